"""How much demand waits for each group, counted from the hints of one plan."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from scaling.autoscaler.results import BlockedBy, PendingHint


class Waiting(NamedTuple):
    """Jobs whose hints name a group among those that block them, and their tasks; no other group fits those `alone`."""

    jobs: int = 0
    tasks: int = 0
    alone: int = 0


NOBODY = Waiting()


def waiting_for(hints: Iterable[PendingHint], tasks: Mapping[str, int]) -> dict[str, Waiting]:
    """By group, without those that nobody waits for; `tasks` are those that wait, by job id (one left out has none)."""
    found: dict[str, list[int]] = {}
    for blocks, (jobs, count) in _alike(hints, tasks).items():
        names = {block.group for block in blocks}
        alone = jobs if len(names) == 1 else 0
        for name in names:
            had = found.setdefault(name, [0, 0, 0])
            had[0] += jobs
            had[1] += count
            had[2] += alone
    return {name: Waiting(*counts) for name, counts in found.items()}


def _alike(hints: Iterable[PendingHint], tasks: Mapping[str, int]) -> dict[tuple[BlockedBy, ...], tuple[int, int]]:
    """(jobs, tasks) by what blocks them: few kinds, where 100,000 jobs may name hundreds of groups each."""
    # Jobs of one shape share one tuple: told apart by identity first, as comparing such long ones is dear.
    same: dict[int, tuple[tuple[BlockedBy, ...], int, int]] = {}
    for hint in hints:
        if hint.blocked_by:
            key = id(hint.blocked_by)
            blocks, jobs, count = same.get(key, (hint.blocked_by, 0, 0))
            same[key] = blocks, jobs + 1, count + tasks.get(hint.job_id, 0)
    found: dict[tuple[BlockedBy, ...], tuple[int, int]] = {}
    for blocks, jobs, count in same.values():
        had = found.get(blocks, (0, 0))
        found[blocks] = had[0] + jobs, had[1] + count
    return found
