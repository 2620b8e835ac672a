"""The stabilisation window: a replica goes only when everything wished lately could do without it."""

from collections.abc import Sequence
from dataclasses import dataclass

from scaling.replicas.ages import younger_after


@dataclass(frozen=True, slots=True)
class WindowEntry:
    """What was wished at one tick."""

    at: float
    desired: int


def slide(
    stored: Sequence[WindowEntry] | None, wish: int, healthy: int, window_seconds: float, now: float
) -> tuple[WindowEntry, ...]:
    """Step 8: the window after this tick, with its wish and without what has expired.

    First sight (None) and a window whose entries have all expired start with the healthy count in it; an
    empty one is known and drained. A window of 0 s is this tick only and is never seeded.
    """
    if window_seconds <= 0:
        return (WindowEntry(now, wish),)
    horizon = younger_after(window_seconds, now)
    living = [entry for entry in stored or () if entry.at > horizon]
    if not living and stored != ():
        living.append(WindowEntry(now, healthy))
    return (*living, WindowEntry(now, wish))


def window_max(window: Sequence[WindowEntry]) -> int:
    """The largest wish in a window that `slide` returned."""
    return max([entry.desired for entry in window])


def released_at(window: Sequence[WindowEntry], healthy: int, window_seconds: float) -> float | None:
    """When the last entry that still asks for `healthy` replicas or more will have expired."""
    blocking = [entry.at for entry in window if entry.desired >= healthy]
    return max(blocking) + window_seconds if blocking else None


def compact(window: Sequence[WindowEntry]) -> tuple[WindowEntry, ...]:
    """The same window for every later tick in the fewest entries, for storing.

    An entry before a later one that asks for as much can never be the maximum again. The newest entry stays,
    so a window expires as a whole at the same time as before.
    """
    kept: list[WindowEntry] = []
    for entry in sorted(window, key=lambda entry: entry.at):
        while kept and kept[-1].desired <= entry.desired:
            kept.pop()
        kept.append(entry)
    return tuple(kept)
