"""The state of a booked slice at a moment: derived from its times, so that no process has to move it on."""

from scaling.platforms.base import PlatformSlice, PlatformSliceState, PlatformWorker, PlatformWorkerState
from scaling.platforms.simulated.records import BookedSlice


def is_gone(booked: BookedSlice, now: float) -> bool:
    """Whether the cloud no longer knows it."""
    return booked.gone_at is not None and now >= booked.gone_at


def state_of(booked: BookedSlice, now: float) -> PlatformSliceState:
    """Its state while it is not gone; at exactly the moment of a change the change has happened."""
    if booked.deleted_at is not None and now >= booked.deleted_at:
        return PlatformSliceState.TERMINATING
    if booked.fails_at is not None and now >= booked.fails_at:
        return PlatformSliceState.FAILED
    return PlatformSliceState.READY if now >= booked.ready_at else PlatformSliceState.BOOTING


def listed(booked: BookedSlice, now: float) -> PlatformSlice:
    """It as the platform lists it."""
    state = state_of(booked, now)
    return PlatformSlice(
        name=booked.name,
        group=booked.group,
        installation=booked.installation,
        state=state,
        created=booked.accepted_at,
        workers=tuple(_worker(booked, index, now) for index in range(booked.workers)),
        error=booked.error if state is PlatformSliceState.FAILED else "",
    )


def history(booked: BookedSlice) -> list[tuple[float, str]]:
    """When it entered which state, `GONE` included, as far as is known now."""
    failed_first = booked.fails_at is not None and booked.fails_at <= booked.ready_at
    moments: list[tuple[float | None, str]] = [
        (booked.accepted_at, PlatformSliceState.BOOTING),
        (None if failed_first else booked.ready_at, PlatformSliceState.READY),
        (booked.fails_at, PlatformSliceState.FAILED),
        (booked.deleted_at, PlatformSliceState.TERMINATING),
        (booked.gone_at, "GONE"),
    ]
    end = min((at for at in (booked.deleted_at, booked.gone_at) if at is not None), default=float("inf"))
    return [
        (at, str(state))
        for at, state in moments
        if at is not None and (at <= end or state in (PlatformSliceState.TERMINATING, "GONE"))
    ]


def _worker(booked: BookedSlice, index: int, now: float) -> PlatformWorker:
    address = f"{booked.name}-{index}.{booked.zone or 'nowhere'}.simulated"
    lost = [loss.state for loss in booked.losses if loss.worker == index and loss.holds(now)]
    if PlatformWorkerState.NOT_FOUND in lost:
        return PlatformWorker(index, PlatformWorkerState.NOT_FOUND)
    if now < booked.worker_ready_at[index]:
        return PlatformWorker(index, PlatformWorkerState.BOOTING)
    return PlatformWorker(index, PlatformWorkerState.UNKNOWN if lost else PlatformWorkerState.READY, address)
