"""What acts cost, in words: the sum, and exactly what is counted in it."""

from iris_web.pages import prices, words
from scaling.audit.cost import Cost


def told(cost: Cost) -> str:
    """`12.5 device-hours of 3 slices, 40.00 USD at the price of their groups`."""
    amount = _hours(cost.device_hours, "device-hour") if cost.device_hours else _hours(cost.slice_hours, "slice-hour")
    of = f" of {words.plural(cost.slices, 'slice')}" if cost.slices else ""
    price = f", {prices.money(cost.money)} at the price of their groups" if cost.money is not None else ""
    return f"{amount}{of}{price}{' so far' if cost.running else ''}"


def caveats(cost: Cost) -> str:
    """What is missing in the sum, in sentences; "" where nothing is."""
    found = []
    if cost.money is not None and cost.unpriced:
        found.append(f"{words.plural(cost.unpriced, 'slice')} without a price {_are(cost.unpriced)} not in the money.")
    if cost.unknown:
        found.append(f"{words.plural(cost.unknown, 'slice')} no longer stored {_are(cost.unknown)} not counted.")
    if cost.cut:
        found.append("More were affected than are counted here.")
    return " ".join(found)


def counted(kind: str) -> str:
    """What is counted for an act of this kind."""
    if kind == "drain":
        return (
            "Counted: each slice it drained, from the drain until the slice ended, the drain was undone, or now; "
            "with what followed from it."
        )
    return "Counted: each slice that it or what followed from it is about, from ready until it ended, or now."


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _hours(amount: float, word: str) -> str:
    if 0 < amount < 0.05:
        return f"less than 0.1 {word}s"
    return f"{amount:,.1f} {word}s" if amount < 100 else f"{amount:,.0f} {word}s"
