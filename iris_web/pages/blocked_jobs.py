"""Which demand waits for a group, from what the planner told each job: in the list of groups and on a group's page."""

import json
from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

from django.db.models import TextField
from django.db.models.functions import Cast

from scaling.models import Hint


class Waiting(NamedTuple):
    """Jobs that the last cycle told that this group blocks them, and their tasks; no other group fits those `alone`."""

    jobs: int = 0
    tasks: int = 0
    alone: int = 0


NOBODY = Waiting()


def jobs_waiting_for(names: Collection[str] | None = None) -> dict[str, Waiting]:
    """By group, of these or of all: those that nobody waits for are left out. One query, through all hints.

    What blocks jobs of one shape is the same text, so that few of thousands are read.
    """
    found: dict[str, Waiting] = {}
    for blocking, jobs, tasks in _blocking():
        alone = jobs if len(blocking) == 1 else 0
        for name in blocking:
            if names is None or name in names:
                had = found.get(name, NOBODY)
                found[name] = Waiting(had.jobs + jobs, had.tasks + tasks, had.alone + alone)
    return found


def _blocking() -> Iterator[tuple[set[str], int, int]]:
    """Groups that block the same jobs, with how many those are and their tasks."""
    waiting = Hint.objects.filter(job__pending_tasks__gt=0).annotate(text=Cast("blocked_by", TextField()))
    jobs: Counter[str] = Counter()
    tasks: Counter[str] = Counter()
    # Counted here: a database would sort thousands of long texts for it.
    for text, pending in waiting.exclude(text="[]").order_by().values_list("text", "job__pending_tasks"):
        jobs[text] += 1
        tasks[text] += pending
    for text, number in jobs.items():
        yield {str(item["group"]) for item in json.loads(text)}, number, tasks[text]
