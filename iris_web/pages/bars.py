"""A bar of capacity: what is held, against its own max, on a scale on which it can be seen.

The rule: a bar ends at max. Where max is so far away that what is held (or the minimum) would be a sliver, it ends at
a round number at least four times that, is drawn as cut off, and says where it ends; the figures beside it name max.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.safestring import SafeString

# What fills less than this part of a bar up to max is not seen: then the bar is cut.
SLIVER = 20
ROOM = 4
_ROUND = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Bar:
    """Widths in whole percent of `scale`. `blocked`: headroom that may not be bought now, at the right end.

    `minimum_at`: where the mark of the floor stands, None without one. `cut`: it ends at `scale`, not at max.
    """

    parts: tuple[tuple[str, int], ...]
    blocked: int
    minimum_at: int | None
    scale: int
    cut: bool

    @property
    def html(self) -> SafeString:
        """The drawing; the words for it are the caller's."""
        drawn = "".join(f'<i class="{name} w{width}"></i>' for name, width in self.parts)
        drawn += f'<i class="blocked w{self.blocked}"></i>' if self.blocked else ""
        drawn += "" if self.minimum_at is None else f'<i class="floor w{self.minimum_at}"></i>'
        # Names of our own and whole numbers: there is nothing in it to escape.
        return SafeString(f'<span class="bar{" cut" if self.cut else ""}">{drawn}</span>')


def draw(held: Mapping[str, int], maximum: int, blocked: int = 0, minimum: int = 0) -> Bar:
    """The bar of so many of each part (in their order), `blocked` of the headroom under `maximum`, a floor.

    Every part that is there is at least 1 wide. More than max may be held where max was lowered: then that is the end.
    """
    total = sum(held.values())
    end = scale_of(max(total, minimum), maximum)
    scale = max(end, total)
    parts = _widths(held, scale)
    left = 100 - sum(width for _, width in parts)
    headroom = maximum - total
    closed = 0 if headroom <= 0 or not blocked else max(1, round(left * min(1.0, blocked / headroom)))
    mark = min(100, max(1, round(100 * minimum / scale))) if minimum and scale else None
    return Bar(parts, min(closed, left), mark, scale, end < maximum)


def is_cut(seen: int, maximum: int) -> bool:
    """Whether a bar on which `seen` must be seen ends before its max."""
    return seen > 0 and maximum > SLIVER * seen


def scale_of(seen: int, maximum: int) -> int:
    """Where a bar ends on which `seen` must be seen."""
    if not is_cut(seen, maximum):
        return maximum
    wanted, step = ROOM * seen, 1
    while True:
        for number in _ROUND:
            if number * step >= wanted:
                return number * step
        step *= 10


def _widths(held: Mapping[str, int], scale: int) -> tuple[tuple[str, int], ...]:
    """Whole percents that end where the running sum does, none of what is there below 1, together at most 100."""
    parts: list[tuple[str, int]] = []
    total = reached = 0
    for name, number in held.items():
        if number <= 0 or scale <= 0:
            continue
        total += number
        width = max(1, round(100 * total / scale) - reached)
        parts.append((name, width))
        reached += width
    while reached > 100:
        widest = max(range(len(parts)), key=lambda at: parts[at][1])
        parts[widest] = (parts[widest][0], parts[widest][1] - 1)
        reached -= 1
    return tuple(parts)
