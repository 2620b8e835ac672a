"""The next cycle's plan, made twice: of the cluster as it is, and of the cluster as an act would leave it."""

import threading
from functools import partial

from scaling import clock
from scaling.autoscaler.cycle import run_cycle
from scaling.autoscaler.models import ClusterState, Listing, PlatformStatus, SeenSlice, Slice, SliceState
from scaling.loops.autoscaler import snapshot
from scaling.loops.autoscaler.hearing import with_silence
from scaling.loops.autoscaler.lost_tasks import with_lost_tasks
from scaling.models import Installation
from scaling.previews.changes import Change
from scaling.previews.effects import Preview, compare

# What is kept of demand between two readings belongs to one reader at a time, and a web process has several threads.
_ONE_AT_A_TIME = threading.Lock()

# How a platform lists a slice that it has as it is stored; what was not confirmed is not listed yet.
_LISTED_AS = {
    SliceState.BOOTING: SliceState.BOOTING,
    SliceState.READY: SliceState.READY,
    SliceState.DRAINING: SliceState.READY,
    SliceState.TERMINATING: SliceState.TERMINATING,
    SliceState.FAILED: SliceState.TERMINATING,
}


def preview(change: Change) -> Preview:
    """What `change` does to the next cycle.

    Platforms are not asked: each is taken to list what is stored, and one whose last listing failed to fail again. So
    the answer is that of the next cycle as far as nothing happens until then. About eight queries.
    """
    if not Installation.objects.exists():
        return Preview(stopped="this installation is not set up yet")
    with _ONE_AT_A_TIME:
        before = snapshot.read()
        at = clock.now()
        listings = with_silence(as_stored(before.state), before, at)
        before = with_lost_tasks(before, listings, at)
        plan = partial(
            run_cycle, observations=listings, demand=before.demand, now=at.timestamp(), seed=f"preview {at.timestamp()}"
        )
        return compare(before.state, plan(before.state), plan(change(before.state)))


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
