"""What an act was shown to hit, against what it would hit at the moment it is sent.

An item of a scope is a name, quoted so that it holds no space, or `<group>=+<n>`: n slices that a group asks for.

An act that takes something back or lets something serve again (an undo, undrain, resume) is held to what it releases or
ends alone. What it buys is what demand asks for within the group's max, and demand comes and goes by itself: serving
means that, and nobody who takes back a mistake is to be stopped by it.
"""

from collections.abc import Iterable
from urllib.parse import unquote

NAMED = 3


def more_than_shown(hit: Iterable[str], shown: Iterable[str]) -> str:
    """What is hit beyond what was shown, the first three by name; "" where it is no more."""
    seen = dict(_amount(item) for item in shown)
    newer = sorted(_told(*found) for item in set(hit) if (found := _amount(item))[1] > seen.get(found[0], 0))
    return ", ".join(newer[:NAMED]) + (f" and {len(newer) - NAMED} more" if len(newer) > NAMED else "")


def _amount(item: str) -> tuple[str, int]:
    """(name, slices asked for); 1 for what is named alone."""
    name, plus, number = item.partition("=+")
    return (f"{name}=+", int(number)) if plus and number.isascii() and number.isdigit() else (item, 1)


def _told(item: str, number: int) -> str:
    name, plus, _ = item.partition("=+")
    if not plus:
        return unquote(name)
    if name == "replicas":
        return f"{number} new replica{'s' if number > 1 else ''}"
    return f"{number} new slice{'s' if number > 1 else ''} in {unquote(name)}"
