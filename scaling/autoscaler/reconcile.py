"""Step 1 of a cycle: what the platforms list, against what is stored (AUTOSCALER sections 2 and 7).

An error while listing never means "gone"; what is absent is believed gone the second time.
"""

from collections.abc import Mapping
from dataclasses import replace

from scaling.autoscaler import markers as rules
from scaling.autoscaler.books import Books, transient
from scaling.autoscaler.failure_rules import diagnose_failure
from scaling.autoscaler.models import (
    ActionKind,
    DeleteCause,
    DeleteIntent,
    Listing,
    Orphan,
    PlatformStatus,
    SeenSlice,
    SeenWorker,
    Slice,
    SliceState,
    Worker,
    WorkerHealth,
)
from scaling.autoscaler.quantities import duration_words

ABORTS_BEFORE_UNREACHABLE = 3
UNKNOWN_SECONDS = 900.0
ABSENT_IS_GONE = 2
SWEEP_GRACE_SECONDS = 900.0
# A deletion that was accepted and is not seen done is asked for again after this long.
DELETE_AGAIN_SECONDS = 60.0

_NOT_LISTED = Listing(error="it was not listed")


def check_platforms(books: Books, observations: Mapping[str, Listing]) -> str:
    """Counts the failed listings and names the platforms to leave alone; returns why the cycle aborts, or ""."""
    reasons, unreachable = [], []
    for name in sorted({group.platform for group in books.groups.values()}):
        before = books.platforms.get(name, PlatformStatus())
        error = observations.get(name, _NOT_LISTED).error
        if not error:
            books.platforms[name] = replace(before, aborts=0, failing_since=None, error="")
            continue
        since = books.now if before.failing_since is None else before.failing_since
        if before.aborts >= ABORTS_BEFORE_UNREACHABLE:
            unreachable.append(name)
        else:
            reasons.append(f"platform {name} cannot be listed: {error}")
        aborts = min(before.aborts + 1, ABORTS_BEFORE_UNREACHABLE)
        books.platforms[name] = replace(before, aborts=aborts, failing_since=since, error=error)
    books.unreachable = frozenset(unreachable)
    return "; ".join(reasons)


def collect(books: Books, observations: Mapping[str, Listing]) -> None:
    """Brings every slice of the listed platforms up to date; successes first, so that failures have the last word."""
    seen = {
        (platform, item.name): item
        for platform, listing in observations.items()
        if not listing.error
        for item in listing.slices
    }
    mine = [item for item in sorted(books.slices.values(), key=lambda item: item.name) if _is_listed(books, item)]
    ready = [item for item in mine if item.state.in_flight and _reports_ready(_seen_of(books, seen, item))]
    for item in ready:
        _becomes_ready(books, item, _seen_of(books, seen, item))
    for item in mine:
        if item.name in books.slices:
            _HANDLERS[books.slices[item.name].state](books, books.slices[item.name], _seen_of(books, seen, item))
    _forget_failures(books)
    for platform, name in sorted(seen):
        if name not in books.before.slices:
            _meet_unknown(books, platform, seen[platform, name])
    _sweep(books, seen)


def _is_listed(books: Books, item: Slice) -> bool:
    return item.group in books.groups and books.groups[item.group].platform not in books.unreachable


def _seen_of(books: Books, seen: Mapping[tuple[str, str], SeenSlice], item: Slice) -> SeenSlice | None:
    return seen.get((books.groups[item.group].platform, item.name))


def _reports_ready(seen: SeenSlice | None) -> bool:
    if seen is None or seen.state is not SliceState.READY:
        return False
    return not any(worker.health in (WorkerHealth.LOST, WorkerHealth.NOT_FOUND) for worker in seen.workers)


# -- in flight


def _becomes_ready(books: Books, item: Slice, seen: SeenSlice | None) -> None:
    at = books.now if seen is None or seen.ready_at is None else seen.ready_at
    count = books.groups[item.group].workers_per_slice
    ready = replace(
        item,
        state=SliceState.DRAINING if item.drain else SliceState.READY,
        ready_since=at,
        retry_at=None,
        probe=False,
        missing=0,
        workers=item.workers or tuple(Worker(index, idle_since=at) for index in range(count)),
    )
    books.slices[item.name] = ready
    books.act(
        ActionKind.SLICE_READY, item.group, item.name, f"ready {duration_words(at - item.created)} after its request"
    )
    _prove(books, item)


def _prove(books: Books, item: Slice) -> None:
    """A success takes away the markers that were there before its request; a whole gang proves only together."""
    mates = (other for other in books.slices.values() if other.group == item.group and other.name != item.name)
    if item.probe and any(other.probe and other.state.in_flight for other in mates):
        return
    for kind in rules.cleared_by(item, books.markers_of(item.group).values()):
        books.clear(item.group, kind, f"slice {item.name} is ready")


def _in_flight(books: Books, item: Slice, seen: SeenSlice | None) -> None:
    group = books.groups[item.group]
    if _is_cancelled(books, item, seen):
        books.act(ActionKind.SLICE_CANCELLED, item.group, item.name, "its group drains before it was asked for")
        books.drop(item.name)
    elif seen is not None and seen.state is not SliceState.BOOTING:
        _fails(books, item, seen.error or f"the platform lists it as {seen.state}")
    elif seen is not None and any(worker.health is WorkerHealth.LOST for worker in seen.workers):
        _fails(books, item, seen.error or "a worker was lost before the slice was ready")
    elif books.now - item.created > group.provision_timeout:
        _fails(books, item, f"not ready within {duration_words(group.provision_timeout)}", ours=True)
    elif seen is not None and (item.state is not SliceState.BOOTING or item.retry_at is not None or item.missing):
        books.slices[item.name] = replace(item, state=SliceState.BOOTING, retry_at=None, missing=0)
    elif seen is not None:
        return
    elif item.state is SliceState.BOOTING:
        _is_absent(books, item)


def _is_cancelled(books: Books, item: Slice, seen: SeenSlice | None) -> bool:
    """A drain cancels what was not asked for yet, and what is to be asked for again."""
    drains = item.drain is not None or books.control(item.group).drain is not None
    unsent = item.sent_at is None or item.retry_at is not None
    return drains and unsent and seen is None and item.state is SliceState.REQUESTING


def _fails(books: Books, item: Slice, error: str, ours: bool = False) -> None:
    """An error after acceptance is classified like any other."""
    books.fail(item, ActionKind.SLICE_FAILED, error, DeleteCause.FAILED)
    books.mark(item.group, transient(error) if ours else diagnose_failure(error))


def _is_absent(books: Books, item: Slice) -> None:
    absent = replace(item, missing=item.missing + 1)
    if absent.missing < ABSENT_IS_GONE:
        books.slices[item.name] = absent
    elif item.state is SliceState.BOOTING:
        _fails(books, item, "the platform no longer lists it", ours=True)
    else:
        _is_lost(books, item, "the platform no longer lists it")


# -- ready and draining


def _serving(books: Books, item: Slice, seen: SeenSlice | None) -> None:
    if item.delete_asked_at is not None:
        _leaving(books, item, seen)
    elif seen is None:
        _is_absent(books, item)
    elif seen.state in (SliceState.FAILED, SliceState.TERMINATING):
        _is_lost(books, item, seen.error or f"the platform lists it as {seen.state}")
    else:
        listed = {worker.index: worker for worker in _told(item, seen)}
        workers = tuple(_met(worker, listed, books.now) for worker in item.workers) if listed else item.workers
        if item.missing or workers is not item.workers:
            books.slices[item.name] = replace(item, workers=workers, missing=0)
        reason = _loss(workers, listed, books.now)
        if reason:
            _is_lost(books, books.slices[item.name], reason)


def _told(item: Slice, seen: SeenSlice) -> tuple[SeenWorker, ...]:
    """What is told of the workers; a ready slice that boots again is silent, not lost."""
    if seen.state is SliceState.READY:
        return seen.workers
    return tuple(SeenWorker(worker.index, WorkerHealth.UNKNOWN) for worker in item.workers)


def _met(worker: Worker, listed: Mapping[int, SeenWorker], now: float) -> Worker:
    """What is known of a worker after a listing that tells of workers."""
    if not listed:
        return worker
    seen = listed.get(worker.index)
    if seen is None or seen.health is WorkerHealth.NOT_FOUND:
        return replace(worker, missing=worker.missing + 1)
    since = now if seen.since is None else seen.since
    if seen.health is WorkerHealth.UNKNOWN:
        return replace(worker, missing=0, unknown_since=since if worker.unknown_since is None else worker.unknown_since)
    return recovered(worker, since) if worker.missing or worker.unknown_since is not None else worker


def recovered(worker: Worker, at: float) -> Worker:
    """A worker that is back: a whole new idle window begins."""
    return replace(worker, missing=0, unknown_since=None, idle_since=None if worker.active_tasks else at)


def _loss(workers: tuple[Worker, ...], listed: Mapping[int, SeenWorker], now: float) -> str:
    """Why the slice is lost, "" while it is not: one lost worker gives up the whole slice."""
    for worker in workers:
        if worker.index in listed and listed[worker.index].health is WorkerHealth.LOST:
            return f"worker {worker.index} was lost"
        if worker.missing >= ABSENT_IS_GONE:
            return f"worker {worker.index} was not found twice"
        if worker.unknown_since is not None and now - worker.unknown_since >= UNKNOWN_SECONDS:
            return f"worker {worker.index} was silent for {duration_words(UNKNOWN_SECONDS)}"
    return ""


def _is_lost(books: Books, item: Slice, reason: str) -> None:
    books.fail(item, ActionKind.SLICE_LOST, reason, DeleteCause.LOST)
    young = item.ready_since is not None and books.now - item.ready_since < rules.STABLE_SECONDS
    if item.state is SliceState.READY and young:
        books.mark(item.group, transient(f"a slice was lost soon after it was ready: {reason}"))


# -- on the way out


def _leaving(books: Books, item: Slice, seen: SeenSlice | None) -> None:
    if seen is None:
        books.drop(item.name)
        return
    if seen.state is SliceState.TERMINATING and item.state is SliceState.DRAINING:
        item = books.slices[item.name] = replace(item, state=SliceState.TERMINATING)
    asked = item.delete_asked_at
    if seen.state is not SliceState.TERMINATING and (asked is None or books.now - asked >= DELETE_AGAIN_SECONDS):
        cause = DeleteCause.FAILED if item.state is SliceState.FAILED else DeleteCause.RELEASED
        books.ask_delete(item, cause, item.error or "it is still there")


def _gone(books: Books, item: Slice, _seen: SeenSlice | None) -> None:
    books.drop(item.name)


_HANDLERS = {
    SliceState.REQUESTING: _in_flight,
    SliceState.BOOTING: _in_flight,
    SliceState.READY: _serving,
    SliceState.DRAINING: _serving,
    SliceState.TERMINATING: _leaving,
    SliceState.FAILED: _leaving,
    SliceState.GONE: _gone,
}


# -- memory, adoption, sweeping


def _forget_failures(books: Books) -> None:
    """The back-off count starts again when a slice has been READY for 10 minutes; limits are forgotten after a day."""
    for item in books.slices.values():
        memory = books.control(item.group).backoff
        if item.state is SliceState.READY and rules.proves_stable(item, memory, books.now):
            books.forget_backoff(item.group)
    for name, pool in books.pools.items():
        books.pools[name] = rules.without_old_limit(pool, books.now)


def _meet_unknown(books: Books, platform: str, seen: SeenSlice) -> None:
    """A slice we do not know: adopted when it bears our id, an orphan when it belongs to no group, else not touched."""
    if not books.before.installation or seen.installation != books.before.installation:
        return
    if seen.state is SliceState.TERMINATING:
        # On its way out already: it was ours and counted as gone, or somebody else ended it.
        return
    group = books.groups.get(seen.group)
    if group is None or group.platform != platform:
        books.orphans.setdefault(seen.name, Orphan(seen.name, platform, books.now))
        return
    created = books.now if seen.created is None else seen.created
    adopted = Slice(seen.name, group.name, SliceState.BOOTING, created=created, sent_at=created)
    books.slices[seen.name] = adopted
    books.act(ActionKind.SLICE_ADOPTED, group.name, seen.name, "it bears this installation's id and was not known")
    if _reports_ready(seen):
        # What its workers did before is not known: its idle window begins now.
        _becomes_ready(books, adopted, replace(seen, ready_at=None))


def _sweep(books: Books, seen: Mapping[tuple[str, str], SeenSlice]) -> None:
    for name, orphan in list(books.orphans.items()):
        if orphan.platform in books.unreachable:
            continue
        item = seen.get((orphan.platform, name))
        if item is None or name in books.slices:
            del books.orphans[name]
        elif books.now - orphan.first_seen >= SWEEP_GRACE_SECONDS and item.state is not SliceState.TERMINATING:
            reason = f"it belongs to no group and has been there for {duration_words(SWEEP_GRACE_SECONDS)}"
            books.deletes.append(DeleteIntent(name, item.group, orphan.platform, DeleteCause.SWEPT, reason))
            books.act(ActionKind.SLICE_SWEPT, item.group, name, reason)
