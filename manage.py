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

        from scaling.management.entry import run
    except ModuleNotFoundError as missing:
        sys.exit(f"{missing.name} is not installed here; `make setup` installs what Iris needs, in .venv.")
    try:
        run(sys.argv)
    except ImproperlyConfigured as wrong:
        sys.exit(f"Configuration: {wrong}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        # So early that nothing runs yet: before that the import of Django takes a moment.
        sys.exit(0 if sys.argv[1:2] == ["up"] else 130)
