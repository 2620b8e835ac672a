"""The task that asks a platform for slices: claimed one by one, asked once, and the answer saved as it came.

A slice's name is the platform's idempotency key. Whatever moment the process dies at, the row still says REQUESTING:
a later task asks again under the same name, and "already exists" is success.
"""

import logging
import random

from django.db import transaction
from django.db.models import F, Q, QuerySet

from scaling import clock, records
from scaling.autoscaler.provisioning import apply_create_answer
from scaling.loops.autoscaler import calls
from scaling.loops.autoscaler.answers import NOTHING, Known, store_answer
from scaling.loops.autoscaler.claims import claim
from scaling.loops.queue import enqueue
from scaling.models import Group, GroupMemory, Installation, Marker, Platform, QuotaPool, Slice
from scaling.moments import seconds
from scaling.platforms.base import (
    PlatformError,
    PlatformUnreachableError,
    Provisioner,
    SliceExistsError,
    SliceRequest,
)
from scaling.platforms.registry import provisioner

logger = logging.getLogger("scaling.autoscaler")

# After a per-minute rate limit: where in the next minute each slice is asked for again.
RETRY_SECONDS = (10.0, 60.0)


def send_creates(platform: str) -> None:
    """Ask `platform` for a wave of the slices that are due, and save each answer as it comes.

    More that wait are the next task's. A slice is asked for by one process at a time.
    """
    rows = _claim(platform)
    if not rows:
        return
    client = provisioner(rows[0].platform)
    identity = Installation.objects.values_list("identity", flat=True).get()
    for row, error in calls.side_by_side(lambda row: _ask(client, _request(row, identity)), rows):
        _save(row, error)
    if _due(platform).exists():
        enqueue(send_creates, platform)


def never_asked() -> QuerySet[Slice]:
    """Intents that no process has asked for yet: new ones, and those whose task was lost with its worker."""
    return Slice.objects.filter(
        platform__mode=Platform.Mode.ACT, state=Slice.State.REQUESTING, attempts=0, next_attempt_at__lte=clock.now()
    )


def _due(platform: str) -> QuerySet[Slice]:
    """What may be asked for now: re-checked here, since an operator may have stopped, drained or paused meanwhile."""
    now = clock.now()
    return Slice.objects.filter(
        Q(group__pause_since__isnull=True) | Q(group__pause_until__lte=now) | Q(attempts__gt=0),
        platform__name=platform,
        platform__mode=Platform.Mode.ACT,
        state=Slice.State.REQUESTING,
        next_attempt_at__lte=now,
        group__drain_since__isnull=True,
        drain_since__isnull=True,
    )


def _claim(platform: str) -> list[Slice]:
    """Make this process the one that asks for a wave."""
    now = clock.now()
    with transaction.atomic():
        if Installation.objects.filter(halted_since__isnull=False).exists():
            return []
        due = (
            _due(platform)
            .select_related("group__platform", "group__quota_pool", "platform")
            .order_by("requested_at", "name")
        )
        rows = claim(due, calls.WAVE, attempts=F("attempts") + 1, sent_at=now)
    for row in rows:
        row.attempts, row.sent_at = row.attempts + 1, now
    return rows


def _ask(client: Provisioner, request: SliceRequest) -> PlatformError | None:
    """None when the platform has it now; else its error."""
    try:
        client.create_slice(request)
    except SliceExistsError:
        return None
    except PlatformError as error:
        return error
    except Exception as error:
        logger.exception("create call failed in the client", extra={"slice": request.name})
        return PlatformUnreachableError(f"{type(error).__name__}: {error}")
    return None


def _request(row: Slice, identity: str) -> SliceRequest:
    group = row.group
    return SliceRequest(
        name=row.name,
        group=group.name,
        installation=identity,
        zone=group.zone,
        device_type=group.device_type,
        device_variant=group.device_variant,
        devices_per_worker=group.devices_per_worker,
        workers=group.workers_per_slice,
        capacity_type=group.capacity_type,
        quota_pool=group.quota_pool.name if group.quota_pool else "",
        options=dict(row.platform.options),
    )


def _save(row: Slice, error: PlatformError | None) -> None:
    """Save the answer to this attempt; nothing when the slice has moved on without it (a listing showed it first)."""
    with transaction.atomic():
        if error is not None:
            # The group's markers, its back-off count and its pool change together, one answer after the other.
            Group.objects.select_for_update(no_key=True).only("pk").get(pk=row.group_id)
        known = _known(row) if error is not None else NOTHING
        answer = apply_create_answer(
            records.slice_record(row, (), clock.now()),
            None if error is None else error.words,
            records.group_record(row.group),
            known.markers,
            known.control,
            known.pool,
            seconds(clock.now()),
            retry_delay=random.uniform(*RETRY_SECONDS),
        )
        store_answer(row, answer, known)


def _known(row: Slice) -> Known:
    """What a failure is read against, as it stands now: other answers may have been saved since the claim.

    Locked in the order of locks, before the slice: markers, then the pool.
    """
    group = row.group
    open_markers = Marker.objects.filter(group=group, closed_at__isnull=True).select_related("group").order_by("pk")
    markers = list(open_markers.select_for_update(of=("self",), no_key=True))
    pool = QuotaPool.objects.filter(groups=group).select_for_update(of=("self",), no_key=True).first()
    return Known(
        markers={marker.kind: marker for marker in map(records.marker_record, markers)},
        control=records.control_record(group, GroupMemory.objects.filter(pk=group.pk).first()),
        pool=records.pool_record(pool) if pool else None,
    )
