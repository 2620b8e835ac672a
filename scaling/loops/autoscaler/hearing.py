"""What heartbeats tell of listed workers, beside what their platform tells: the worse of both counts.

A machine that its platform lists as READY may be silent all the same: what ran on it hangs, or its network is gone.
Whoever marked it UNKNOWN (`scaling.loops.workers`) said since when; so its silence adds up over the cycles.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime

from scaling.autoscaler.models import Listing, SeenSlice, SeenWorker, WorkerHealth
from scaling.loops.autoscaler.snapshot import Snapshot
from scaling.models import Worker
from scaling.moments import seconds
from scaling.silence import is_silent, was_away

# By slice name and index: since when a worker is silent.
_Silent = Mapping[str, Mapping[int, float | None]]


def with_silence(observations: Mapping[str, Listing], before: Snapshot, now: datetime) -> Mapping[str, Listing]:
    """The listings, with each READY worker that is marked as silent told as UNKNOWN since it was marked.

    Not after an absence of Iris's own: nobody could have been heard meanwhile.
    """
    silent = {} if was_away(now) else _silent(before, now)
    if not silent:
        return observations
    return {
        platform: replace(listing, slices=_heard(listing.slices, silent)) for platform, listing in observations.items()
    }


def _silent(before: Snapshot, now: datetime) -> _Silent:
    found: defaultdict[str, dict[int, float | None]] = defaultdict(dict)
    for (name, index), row in before.workers.items():
        if row.state == Worker.State.UNKNOWN and is_silent(row, now) and not before.slices[name].platform.is_simulated:
            found[name][index] = seconds(row.unknown_since)
    return found


def _heard(slices: Collection[SeenSlice], silent: _Silent) -> tuple[SeenSlice, ...]:
    return tuple(
        replace(item, workers=tuple(_worker(worker, silent[item.name]) for worker in item.workers))
        if item.name in silent
        else item
        for item in slices
    )


def _worker(seen: SeenWorker, silent: Mapping[int, float | None]) -> SeenWorker:
    if seen.index not in silent or seen.health is not WorkerHealth.READY:
        return seen
    return replace(seen, health=WorkerHealth.UNKNOWN, since=silent[seen.index])
