"""Gangs (AUTOSCALER section 3): one task per worker, whole slices of one group, all rounds together or not at all."""

from collections.abc import Callable, Iterator

from scaling.autoscaler.demand import DemandEntry
from scaling.autoscaler.group_plan import CLOSED_FOR_GANGS_TOO, GroupPlan
from scaling.autoscaler.room import Order, Room, Stage
from scaling.autoscaler.rooms import Hold
from scaling.autoscaler.seeker import Placement, Seeker

NoteOpening = Callable[[Room], None]


def place_gang(
    entry: DemandEntry,
    seeker: Seeker,
    plan: GroupPlan,
    stage: Stage,
    now: float,
    placed: list[Placement],
    note_opening: NoteOpening,
) -> bool:
    """Puts a gang into one group with the rooms of the rounds up to `stage`; in the last one it may open slices."""
    wanted = entry.tasks // plan.group.workers_per_slice
    chosen, missing = _choose(seeker, plan, stage, wanted)
    if missing and (stage is not Stage.NEW or not plan.has_headroom_for_gang(missing)):
        return False
    if missing:
        chosen.append((_open(entry, plan, missing, now), missing))
        note_opening(chosen[-1][0])
    _settle(seeker, plan, chosen, placed)
    return True


def place_held(
    entry: DemandEntry, seeker: Seeker, hold: Hold, placed: list[Placement], note_opening: NoteOpening
) -> int:
    """A gang accepted in part stays with its group: its slices are kept, the rest is asked for again.

    Also while the group is blocked by a failure; never beyond max_slices or the pool, and never a part of the rest.
    Returns how many tasks are left.
    """
    plan = hold.plan
    wanted = -(-entry.tasks // plan.group.workers_per_slice)
    kept = [(room, 1) for room in hold.rooms if room.whole_slices(seeker.need, True)][:wanted]
    more, missing = _choose(seeker, plan, Stage.NEW, wanted - len(kept))
    if missing and plan.evaluation.outcome not in CLOSED_FOR_GANGS_TOO and missing <= plan.affordable:
        more.append((_open(entry, plan, missing, hold.since), missing))
        note_opening(more[-1][0])
        missing = 0
    _settle(seeker, plan, kept if missing else kept + more, placed)
    return (wanted - len(kept)) * plan.group.workers_per_slice if missing else 0


def _choose(seeker: Seeker, plan: GroupPlan, stage: Stage, wanted: int) -> tuple[list[tuple[Room, int]], int]:
    """Whole slices out of the rooms of the rounds up to `stage`, and how many are missing."""
    chosen: list[tuple[Room, int]] = []
    for round_ in Stage:
        if round_ > stage or not wanted:
            break
        for room, slices in _whole(seeker, plan, round_):
            took = min(slices, wanted)
            chosen.append((room, took))
            wanted -= took
            if not wanted:
                break
    return chosen, wanted


def _whole(seeker: Seeker, plan: GroupPlan, stage: Stage) -> Iterator[tuple[Room, int]]:
    """Rooms that can take one task on each worker. What cannot now never can again: the cursor passes it for good."""
    rooms, cursor = plan.rooms[stage], seeker.gang_cursor(stage, plan)
    stale_too = seeker.stale_too or stage is not Stage.READY
    passing = True
    for at in range(cursor[0], len(rooms)):
        slices = rooms[at].whole_slices(seeker.need, stale_too)
        if slices:
            passing = False
            yield rooms[at], slices
        elif passing:
            cursor[0] = at + 1


def _open(entry: DemandEntry, plan: GroupPlan, slices: int, since: float) -> Room:
    purpose = f"for gang {entry.job_id}" if entry.job_id else "for a gang"
    return plan.open_slices(slices, Order(purpose, True, entry.job_id, since))


def _settle(seeker: Seeker, plan: GroupPlan, chosen: list[tuple[Room, int]], placed: list[Placement]) -> None:
    for room, slices in chosen:
        placed.append((room, plan.put_gang(room, seeker.need, slices), 0))
