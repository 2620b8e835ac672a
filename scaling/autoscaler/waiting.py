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
    # Jobs of one shape share what blocks them, so few of 100,000 are looked into: by identity, as comparing is dear.
    alike: dict[int, tuple[tuple[BlockedBy, ...], int, int]] = {}
    for hint in hints:
        if hint.blocked_by:
            key = id(hint.blocked_by)
            blocks, jobs, count = alike.get(key, (hint.blocked_by, 0, 0))
            alike[key] = blocks, jobs + 1, count + tasks.get(hint.job_id, 0)
    found: dict[str, Waiting] = {}
    for blocks, jobs, count in alike.values():
        names = {block.group for block in blocks}
        for name in names:
            had = found.get(name, NOBODY)
            found[name] = Waiting(had.jobs + jobs, had.tasks + count, had.alone + (jobs if len(names) == 1 else 0))
    return found
