"""Prices and sums as people read them, in the currency that IRIS_CURRENCY names."""

from decimal import Decimal

from django.conf import settings

_SMALLEST = Decimal("0.01")


def price(amount: Decimal | None) -> str:
    """A price as it is configured, with four decimals at most: `2.50 USD`, `0.0004 USD`; nothing for None."""
    if amount is None:
        return ""
    whole, _, decimals = f"{amount:,.4f}".partition(".")
    return f"{whole}.{decimals.rstrip('0'):0<2} {settings.IRIS_CURRENCY}"


def money(amount: Decimal) -> str:
    """A sum: `1,204.50 USD`; one that is too small to be told so, but not nothing, says that."""
    if 0 < amount < _SMALLEST:
        return f"less than 0.01 {settings.IRIS_CURRENCY}"
    return f"{amount:,.2f} {settings.IRIS_CURRENCY}"
