"""Why a slice is not released: the rules of scale-down (AUTOSCALER section 7) read off what is stored.

The table is asked from the top; the first rule that says something is the answer. A moment is told only where the slice
may go at it: of a group's idle slices those beyond its target, the longest idle first, as `scaling.autoscaler.reclaim`
lets them go.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from scaling.counting import counted
from scaling.models import Group, Slice, Worker


@dataclass(frozen=True, slots=True)
class Crew:
    """The workers of one slice, counted; `unknown_since` is the longest silence among them."""

    workers: int = 0
    ready: int = 0
    busy: int = 0
    unknown: int = 0
    lost: int = 0
    unknown_since: datetime | None = None
    tasks: int = 0
    jobs: int = 0


@dataclass(frozen=True, slots=True)
class Situation:
    """One slice among its group. `target` and `ready` are those of the group, as the last cycle found them.

    `spare`: it is among those that may go for the target. `held`: why nothing of its group is released, or "".
    """

    slice: Slice
    group: Group
    crew: Crew
    target: int
    ready: int
    now: datetime
    spare: bool = True
    held: str = ""

    @property
    def window_seconds(self) -> float:
        group = self.group
        if group.drain_since is None and self.slice.drain_since is None:
            return group.idle_threshold_seconds
        drain = group.drain_idle_threshold_seconds
        return 2 * group.idle_threshold_seconds if drain is None else drain

    @property
    def deadline(self) -> datetime | None:
        """When what is still busy ends, by a drain's order."""
        return min(filter(None, (self.slice.drain_deadline, self.group.drain_deadline)), default=None)

    @property
    def may_go_at(self) -> datetime | None:
        """When it will have been idle long enough; None while it works."""
        idle = self.slice.idle_since
        return None if idle is None else idle + timedelta(seconds=self.window_seconds)


@dataclass(frozen=True, slots=True)
class Why:
    """The answer: a sentence, and the moment it counts down to or since."""

    text: str
    until: datetime | None = None
    since: datetime | None = None


def _requesting(s: Situation) -> Why | None:
    if s.slice.state != Slice.State.REQUESTING:
        return None
    if s.slice.next_attempt_at and s.slice.next_attempt_at > s.now:
        again = f" again (asked {s.slice.attempts}×)" if s.slice.attempts else ""
        return Why(f"is asked for{again} in", until=s.slice.next_attempt_at)
    return Why("waits for the platform to accept it")


def _booting(s: Situation) -> Why | None:
    if s.slice.state != Slice.State.BOOTING:
        return None
    return Why("counts as failed in", until=s.slice.requested_at + timedelta(seconds=s.group.provision_timeout_seconds))


def _leaving(s: Situation) -> Why | None:
    if s.slice.state not in (Slice.State.DRAINING, Slice.State.TERMINATING):
        return None
    return Why(s.slice.reason or "is being released")


def _lost(s: Situation) -> Why | None:
    lost = f"{s.crew.lost} of {counted(s.crew.workers, 'worker')}"
    return Why(f"{lost} not found: the whole slice goes") if s.crew.lost else None


def _working(s: Situation) -> Why | None:
    if s.slice.idle_since is not None and not s.crew.busy:
        return None
    tasks = f"{s.crew.tasks} {'task' if s.crew.tasks == 1 else 'tasks'} on " if s.crew.tasks else ""
    busy = s.crew.busy or 1
    text = f"in use: {tasks}{busy} of {s.crew.workers} {'worker' if s.crew.workers == 1 else 'workers'}"
    return Why(f"{text}; {s.held}" if s.held else f"{text}; ends in", s.deadline) if s.deadline else Why(text)


def _overdue(s: Situation) -> Why | None:
    if s.deadline is None or s.now < s.deadline or s.slice.gang or s.held:
        return None
    return Why("goes in the next cycle: the drain's deadline has passed")


def _unheard(s: Situation) -> Why | None:
    if s.crew.unknown and s.crew.unknown == s.crew.workers:
        return Why("no worker is known", since=s.crew.unknown_since)
    return None


def _short_idle(s: Situation) -> Why | None:
    at = s.may_go_at
    if at is None or s.now >= at:
        return None
    return Why(f"{s.held}; idle for long enough in" if s.held else "idle; may go in", until=at)


def _kept_for_gang(s: Situation) -> Why | None:
    return Why(f"kept for the gang {s.slice.gang}") if s.slice.gang else None


def _at_target(s: Situation) -> Why | None:
    if s.spare or s.slice.drain_since or s.group.drain_since:
        return None
    floor = [f"min {s.group.min_slices}"] if s.group.min_slices else []
    floor += [f"buffer {s.group.buffer_slices}"] if s.group.buffer_slices else []
    why = f" ({', '.join(floor)})" if floor else ""
    return Why(f"kept: {s.ready} ready, target {s.target}{why}")


def _held_back(s: Situation) -> Why | None:
    return Why(f"could go; {s.held}") if s.held else None


_RULES: tuple[Callable[[Situation], Why | None], ...] = (
    _requesting, _booting, _leaving, _lost, _overdue, _working, _unheard,
    _kept_for_gang, _at_target, _short_idle, _held_back,
)  # fmt: skip


def why_kept(situation: Situation) -> Why:
    """Why this slice is still there."""
    for rule in _RULES:
        if found := rule(situation):
            return found
    return Why("may go in the next cycle, unless demand needs it")


def crew_of(rows: list[Worker]) -> Crew:
    """The crew of one slice from its worker rows (tasks are not known here)."""
    silent = [row.unknown_since for row in rows if row.unknown_since]
    return Crew(
        workers=len(rows),
        ready=sum(row.state == Worker.State.READY for row in rows),
        busy=sum(row.state == Worker.State.READY and row.idle_since is None for row in rows),
        unknown=sum(row.state == Worker.State.UNKNOWN for row in rows),
        lost=sum(row.state == Worker.State.NOT_FOUND for row in rows),
        unknown_since=min(silent, default=None),
    )
