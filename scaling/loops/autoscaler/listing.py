"""Step 1 of the cycle: every platform in use is listed at once, and an error never looks like an empty answer."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout

from django.conf import settings
from django.db import connections

from scaling.autoscaler.models import Listing, SeenSlice, SeenWorker, SliceState, WorkerHealth
from scaling.characters import harmless
from scaling.models import Platform
from scaling.platforms.base import PlatformError, PlatformSlice, PlatformSliceState, PlatformWorker, PlatformWorkerState
from scaling.platforms.registry import provisioner

_STATES = {
    PlatformSliceState.BOOTING: SliceState.BOOTING,
    PlatformSliceState.READY: SliceState.READY,
    PlatformSliceState.FAILED: SliceState.FAILED,
    PlatformSliceState.TERMINATING: SliceState.TERMINATING,
}


def list_platforms(platforms: Sequence[Platform], installation: str) -> dict[str, Listing]:
    """A Listing by platform name; takes at most IRIS_PLATFORM_TIMEOUT seconds, and a late answer is an error."""
    if not platforms:
        return {}
    pool = ThreadPoolExecutor(max_workers=len(platforms), thread_name_prefix="list")
    try:
        deadline = time.monotonic() + settings.IRIS_PLATFORM_TIMEOUT
        asked = {platform.name: pool.submit(_in_thread, platform, installation) for platform in platforms}
        return {name: _answer(future, deadline) for name, future in asked.items()}
    finally:
        # A call that hangs must not hold the cycle; its answer is of no use any more.
        pool.shutdown(wait=False, cancel_futures=True)


def _answer(future: Future[Listing], deadline: float) -> Listing:
    """All share one deadline: waiting for each in turn, two that hang would outlast the queue's time-out."""
    try:
        return future.result(timeout=max(0.0, deadline - time.monotonic()))
    except FutureTimeout:
        return Listing(error=f"no answer within {settings.IRIS_PLATFORM_TIMEOUT:g} s")


def _in_thread(platform: Platform, installation: str) -> Listing:
    try:
        return list_one(platform, installation)
    finally:
        connections.close_all()


def list_one(platform: Platform, installation: str) -> Listing:
    """The listing of one platform; whatever goes wrong is an error in it, never an empty answer."""
    try:
        return Listing(tuple(_seen(row) for row in provisioner(platform).list_slices(installation)))
    except PlatformError as error:
        return Listing(error=error.words)
    except Exception as error:
        # Whatever a client library throws, nothing was listed.
        return Listing(error=harmless(f"{type(error).__name__}: {error}"))


def _seen(row: PlatformSlice) -> SeenSlice:
    return SeenSlice(
        name=row.name,
        state=_STATES[row.state],
        group=row.group,
        installation=row.installation,
        created=row.created,
        workers=tuple(_worker(worker) for worker in row.workers),
        error=harmless(row.error),
    )


_HEALTH: Mapping[PlatformWorkerState, WorkerHealth] = {
    PlatformWorkerState.READY: WorkerHealth.READY,
    PlatformWorkerState.UNKNOWN: WorkerHealth.UNKNOWN,
    PlatformWorkerState.NOT_FOUND: WorkerHealth.LOST,
}


def _worker(worker: PlatformWorker) -> SeenWorker:
    # A machine that still boots beside ready ones takes no tasks yet, which is what "unknown" means to the planner.
    return SeenWorker(worker.index, _HEALTH.get(worker.state, WorkerHealth.UNKNOWN))
