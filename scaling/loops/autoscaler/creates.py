"""The task that asks a platform for slices: claimed one by one, asked once, and the answer saved as it came.

A slice's name is the platform's idempotency key. Whatever moment the process dies at, the row still says REQUESTING:
a later task asks again under the same name, and "already exists" is success.
"""

import logging
import random
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet

from scaling import clock
from scaling.autoscaler.provisioning import CreateAnswer, apply_create_answer
from scaling.loops.autoscaler import calls, records
from scaling.loops.autoscaler.answers import store_answer
from scaling.loops.autoscaler.moments import seconds
from scaling.loops.queue import enqueue
from scaling.models import Group, GroupMemory, Installation, Marker, Platform, Slice
from scaling.platforms.base import PlatformError, PlatformUnreachableError, SliceExistsError, SliceRequest
from scaling.platforms.registry import provisioner

logger = logging.getLogger("scaling.autoscaler")

# After a per-minute rate limit: where in the next minute each slice is asked for again.
RETRY_SECONDS = (10.0, 60.0)


def send_creates(platform: str) -> None:
    """Ask `platform` for a wave of the slices that are due; more that wait are the next task's."""
    due = list(_due(platform).order_by("requested_at", "name").values_list("name", flat=True)[: calls.WAVE + 1])
    calls.side_by_side(create_slice, due[: calls.WAVE])
    if len(due) > calls.WAVE:
        enqueue(send_creates, platform)


def create_slice(name: str) -> None:
    """Ask for one slice and save the answer; nothing when somebody else asks for it, or it may no longer be bought."""
    claimed = _claim(name)
    if claimed is not None:
        _save(name, claimed.attempts, _ask(claimed))


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


def _claim(name: str) -> Slice | None:
    """Make this process the one that asks; the claim runs out when no answer was saved for twice the time-out."""
    now = clock.now()
    with transaction.atomic():
        if Installation.objects.filter(halted_since__isnull=False).exists():
            return None
        row = Slice.objects.select_related("group__quota_pool", "platform").get(name=name)
        claimed = (
            _due(row.platform.name)
            .filter(pk=row.pk, attempts=row.attempts)
            .update(
                attempts=F("attempts") + 1,
                sent_at=now,
                next_attempt_at=now + timedelta(seconds=2 * settings.IRIS_PLATFORM_TIMEOUT),
            )
        )
    if not claimed:
        return None
    row.attempts += 1
    return row


def _ask(row: Slice) -> Exception | None:
    """None when the platform has it now; else its error."""
    try:
        provisioner(row.platform).create_slice(_request(row))
    except SliceExistsError:
        return None
    except PlatformError as error:
        return error
    except Exception as error:
        logger.exception("create call failed in the client", extra={"slice": row.name})
        return PlatformUnreachableError(f"{type(error).__name__}: {error}")
    return None


def _request(row: Slice) -> SliceRequest:
    group = row.group
    return SliceRequest(
        name=row.name,
        group=group.name,
        installation=Installation.objects.values_list("identity", flat=True).get(),
        zone=group.zone,
        device_type=group.device_type,
        device_variant=group.device_variant,
        devices_per_worker=group.devices_per_worker,
        workers=group.workers_per_slice,
        capacity_type=group.capacity_type,
        quota_pool=group.quota_pool.name if group.quota_pool else "",
        options=dict(row.platform.options),
    )


def _save(name: str, attempts: int, error: Exception | None) -> None:
    """Save the answer to this attempt; nothing when the slice has moved on without it (a listing showed it first)."""
    with transaction.atomic():
        row = (
            Slice.objects.select_for_update(of=("self",))
            .select_related("group__platform", "group__quota_pool", "platform")
            .filter(name=name, state=Slice.State.REQUESTING, attempts=attempts)
            .first()
        )
        if row is None:
            return
        # The group's markers, its back-off count and its pool change together, one answer after the other.
        Group.objects.select_for_update(of=("self",)).get(pk=row.group_id)
        answer = _answer(row, error)
        store_answer(row, answer)


def _answer(row: Slice, error: Exception | None) -> CreateAnswer:
    group = row.group
    memory = GroupMemory.objects.filter(pk=group.pk).first()
    markers = [
        records.marker_record(marker)
        for marker in Marker.objects.filter(group=group, closed_at__isnull=True).select_related("group")
    ]
    return apply_create_answer(
        records.slice_record(row, (), clock.now()),
        error,
        records.group_record(group),
        {marker.kind: marker for marker in markers},
        records.control_record(group, memory),
        records.pool_record(group.quota_pool) if group.quota_pool else None,
        seconds(clock.now()),
        retry_delay=random.uniform(*RETRY_SECONDS),
    )
