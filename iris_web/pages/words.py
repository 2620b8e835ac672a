"""Amounts as people read them: bytes, counts, devices. Durations are in `iris_web.live.times`."""

from datetime import UTC, datetime

_DEVICE_WORDS = {"tpu": ("chip", "chips"), "gpu": ("GPU", "GPUs"), "cpu": ("worker", "workers")}


def moment(value: object) -> datetime | None:
    """A time as JSON columns hold it, Unix seconds or an ISO text, as an aware datetime; None for what is none."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None
    return found if found is None or found.tzinfo else found.replace(tzinfo=UTC)


def size(amount: float) -> str:
    """Bytes in binary units: `448.0 GiB`."""
    value = float(amount)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            return f"{value:.0f} {unit}" if unit == "B" or value == int(value) else f"{value:.1f} {unit}"
        value /= 1024
    return ""


def number(value: float | None) -> str:
    """A count with separators: `36,864`; nothing for None."""
    if type(value) is int:
        return f"{value:,}"
    if value is None:
        return ""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}".rstrip("0")


def compact(value: int) -> str:
    """A count in few letters, for places where its neighbour says it in full: `832`, `5.8k`, `91k`, `1.2M`."""
    for unit, sign in ((1_000_000, "M"), (1_000, "k")):
        if value >= unit:
            scaled = value / unit
            return f"{scaled:.1f}{sign}" if scaled < 10 else f"{scaled:.0f}{sign}"
    return str(value)


def devices(count: float, device_type: str) -> str:
    """`1 chip`, `512 chips`, `8 GPUs`, `3 workers`."""
    one, many = _DEVICE_WORDS.get(device_type, _DEVICE_WORDS["cpu"])
    return f"{number(count)} {one if count == 1 else many}"


def device_word(device_type: str) -> str:
    return _DEVICE_WORDS.get(device_type, _DEVICE_WORDS["cpu"])[1]


def plural(count: int, one: str, many: str = "") -> str:
    """`1 slice`, `2 slices`."""
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def phrase(word: str) -> str:
    """A code as words: `scale_up` is `scale up`."""
    return word.replace("_", " ")
