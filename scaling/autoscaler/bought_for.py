"""For whose tasks each slice of a plan is asked for: told in the history beside the request."""

from collections.abc import Iterable, Mapping, Sequence

from scaling.autoscaler.hints import requested_words
from scaling.autoscaler.matching import GroupIndex
from scaling.autoscaler.results import BoughtFor
from scaling.autoscaler.room import Room, Stage
from scaling.autoscaler.seeker import Routed


def bought_for(
    routed: Iterable[Routed], bought: Mapping[Room, Sequence[str]], index: GroupIndex
) -> dict[str, tuple[BoughtFor, ...]]:
    """By slice name the entries that are to use it, the one it was opened for first.

    `bought` names the slices of each planned room in the order in which the rates let them through. Slices that are
    planned together are told of together: which of their workers takes which task is not settled yet.
    """
    found: dict[str, list[BoughtFor]] = {}
    for entry, seeker, placed, _left in routed:
        for room, tasks, first in placed:
            names = bought.get(room) if room.stage is Stage.NEW else None
            if not names or seeker is None or not entry.job_id:
                continue
            requested = seeker.label[0] if seeker.label else requested_words(seeker.shape, index)
            told = BoughtFor(entry.job_id, 1 if room.run else tasks, requested)
            for name in names[first : first + tasks] if room.run else names:
                found.setdefault(name, []).append(told)
    return {name: tuple(entries) for name, entries in found.items()}
