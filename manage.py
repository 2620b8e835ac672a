#!/usr/bin/env python3
"""Entry point of every command: `manage.py up`, `manage.py plan_cluster FILE` and the rest."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "iris_web.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
