"""A small scheduler on the planner's own rules: which waiting tasks start on which READY workers now.

It offers the same room in the same order as the planner's first round, so that what the planner expects to start does.
"""

from collections.abc import Iterable
from typing import NamedTuple

from scaling.autoscaler.books import Books
from scaling.autoscaler.cycle import plans_in_order
from scaling.autoscaler.demand import DemandEntry, in_order, waiting_gangs
from scaling.autoscaler.evaluation import evaluate
from scaling.autoscaler.matching import GroupIndex
from scaling.autoscaler.models import ClusterState
from scaling.autoscaler.room import Stage
from scaling.autoscaler.rooms import offer_rooms
from scaling.autoscaler.routing import Router


class Start(NamedTuple):
    """So many tasks of an entry start on one worker of a slice."""

    entry: DemandEntry
    slice: str
    worker: int
    tasks: int


def starts(state: ClusterState, demand: Iterable[DemandEntry], now: float) -> list[Start]:
    """The tasks to start now, entries in their order; a gang starts whole or not at all.

    Uses READY slices only, none that drain, no silent worker, and no room that an entry has left unused for 120 s.
    """
    books = Books(state, now)
    entries = in_order(demand, now)
    gangs = waiting_gangs(entries)
    plans = plans_in_order(books, *evaluate(books))
    for plan in plans:
        plan.close()
    holds = offer_rooms(books, {plan.group.name: plan for plan in plans}, gangs, by_worker=True)
    for hold in holds.values():
        hold.rooms[:] = [room for room in hold.rooms if room.stage is Stage.READY]
    for plan in plans:
        plan.withdraw(Stage.IN_FLIGHT)
    router = Router(plans, GroupIndex([plan.group for plan in plans]), holds, now)
    found: list[Start] = []
    for entry in entries:
        ((_, _, placed, left),) = router.route([entry])
        is_part_of_gang = left and entry.shape is not None and entry.shape.gang_tasks
        for room, *_ in placed:
            if room.slice is not None and not is_part_of_gang:
                found += [Start(entry, room.slice.name, worker, tasks) for worker, tasks in room.landed or ()]
            room.landed = None
    return found
