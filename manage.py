#!/usr/bin/env python3
"""Entry point of every command: `manage.py up`, `manage.py plan_cluster FILE` and the rest."""

import os
import sys


def main() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036 - whoever runs an older one should read why it stops
        sys.exit("Iris needs Python 3.11 or newer; this is {}.{}.".format(*sys.version_info[:2]))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "iris_web.settings")
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
    except ModuleNotFoundError as missing:
        sys.exit(f"{missing.name} is not installed here; `make setup` installs what Iris needs, in .venv.")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as wrong:
        sys.exit(f"Configuration: {wrong}")


if __name__ == "__main__":
    main()
