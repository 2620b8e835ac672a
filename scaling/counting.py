"""Numbers of things in sentences."""


def counted(count: int, one: str, many: str = "") -> str:
    """`1 slice`, `2 slices`, `1,200 slices`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
