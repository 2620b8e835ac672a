"""What every command of ours is made of."""

from django.core.management.base import BaseCommand


class IrisCommand(BaseCommand):
    """Starts without Django's checks of the code, which would import every page first; the tests run them."""

    requires_system_checks: list[str] = []
