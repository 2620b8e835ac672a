"""The next cycle's plan as the cluster is: what every preview is compared with.

Reading tens of thousands of slices and planning them costs more than all else, so those who only look (`looking`) share
one base for a few seconds, as long as nobody did anything meanwhile: no act, no cycle, no other group. Whoever sends an
act is given a fresh one.
"""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from scaling import clock
from scaling.autoscaler.cycle import lost_in, run_cycle
from scaling.autoscaler.models import ClusterState, CycleResult, Listing, PlatformStatus, SeenSlice, Slice, SliceState
from scaling.loops.autoscaler import snapshot
from scaling.loops.autoscaler.hearing import with_silence
from scaling.loops.autoscaler.lost_tasks import with_tasks_of
from scaling.loops.autoscaler.snapshot import Snapshot
from scaling.models import Action, Cycle, Group, Job, Marker
from scaling.models import Slice as SliceRow

KEPT_SECONDS = 10.0

# How a platform lists a slice that it has as it is stored; what was not confirmed is not listed yet.
_LISTED_AS = {
    SliceState.BOOTING: SliceState.BOOTING,
    SliceState.READY: SliceState.READY,
    SliceState.DRAINING: SliceState.READY,
    SliceState.TERMINATING: SliceState.TERMINATING,
    SliceState.FAILED: SliceState.TERMINATING,
}


@dataclass(frozen=True, slots=True)
class Base:
    """What is stored, what the platforms are taken to list, and the plan of both at the moment `at`."""

    stored: Snapshot
    listings: Mapping[str, Listing]
    at: datetime
    plan: CycleResult

    def planned(self, state: ClusterState) -> CycleResult:
        """The plan of another state, with all else the same."""
        return _plan(self.stored, self.listings, self.at, state)


@dataclass(frozen=True, slots=True)
class _Kept:
    mark: tuple[Any, ...]
    until: float
    base: Base


_looking: ContextVar[bool] = ContextVar("looking", default=False)
_kept: list[_Kept] = []
# What is kept of demand between two readings belongs to one reader at a time, and a web process has several threads.
_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def looking() -> Iterator[None]:
    """Previews made inside are shown and decide nothing: their base may be a few seconds old."""
    token = _looking.set(True)
    try:
        yield
    finally:
        _looking.reset(token)


def base() -> Base:
    """A base for one preview. About ten queries, one where it is at hand."""
    with _ONE_AT_A_TIME:
        mark = _mark()
        found = _kept[0] if _kept else None
        if _looking.get() and found is not None and found.mark == mark and time.monotonic() < found.until:
            return found.base
        made = _make()
        _kept[:] = [_Kept(mark, time.monotonic() + KEPT_SECONDS, made)]
        return made


_GROWING = (Action, Cycle, SliceRow, Job, Marker)
_LATEST = ", ".join(f"(SELECT MAX(id) FROM {model._meta.db_table})" for model in _GROWING)  # noqa: S608 - our own names
_MARK = f"SELECT {_LATEST}, MAX(updated_at), COUNT(*) FROM {Group._meta.db_table}"  # noqa: S608 - our own names


def _mark() -> tuple[Any, ...]:
    """Moves with every act and every cycle, and with what is added. One query, of indexes but for the groups."""
    with connection.cursor() as cursor:
        cursor.execute(_MARK)
        return tuple(cursor.fetchone())


def _make() -> Base:
    """Platforms are not asked: each is taken to list what is stored, one whose last listing failed to fail again."""
    before = snapshot.read_to_plan()
    at = clock.now()
    listings = with_silence(as_stored(before.state), before, at)
    plan = _plan(before, listings, at, before.state)
    lost = lost_in(plan.actions)
    again = with_tasks_of(lost, before, at) if lost else before
    if again is not before:
        plan = _plan(again, listings, at, again.state)
    return Base(again, listings, at, plan)


def _plan(stored: Snapshot, listings: Mapping[str, Listing], at: datetime, state: ClusterState) -> CycleResult:
    return run_cycle(state, listings, stored.demand, at.timestamp(), seed=f"preview {at.timestamp()}")


def as_stored(state: ClusterState) -> dict[str, Listing]:
    """The listings that would change nothing."""
    listed: dict[str, list[SeenSlice]] = {group.platform: [] for group in state.groups.values()}
    for item in state.slices.values():
        if item.state in _LISTED_AS and item.group in state.groups:
            listed[state.groups[item.group].platform].append(_seen(state, item))
    return {name: _listing(state.platforms.get(name), tuple(slices)) for name, slices in listed.items()}


def _seen(state: ClusterState, item: Slice) -> SeenSlice:
    return SeenSlice(item.name, _LISTED_AS[item.state], item.group, state.installation)


def _listing(status: PlatformStatus | None, slices: tuple[SeenSlice, ...]) -> Listing:
    if status is not None and status.aborts:
        return Listing(error=status.error or "it could not be listed")
    return Listing(slices)
