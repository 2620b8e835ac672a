"""Stores what a platform's answer to a create means, in the caller's transaction."""

from collections.abc import Mapping
from dataclasses import dataclass

from scaling import clock, feed, history
from scaling.autoscaler.models import GroupControl, Marker, MarkerKind
from scaling.autoscaler.models import QuotaPool as QuotaPoolRecord
from scaling.autoscaler.provisioning import CreateAnswer
from scaling.history import NewAction
from scaling.loops.autoscaler.history_rows import new_action
from scaling.loops.autoscaler.markers import store_markers
from scaling.loops.autoscaler.moments import moment
from scaling.models import GroupMemory, QuotaPool, Slice


@dataclass(frozen=True, slots=True)
class Known:
    """What the answer was read against: the group's open markers and control, and its pool."""

    markers: Mapping[MarkerKind, Marker]
    control: GroupControl
    pool: QuotaPoolRecord | None


def store_answer(row: Slice, answer: CreateAnswer, before: Known) -> None:
    """`row` is locked and still as the answer was made for; its group is loaded."""
    _slice(row, answer)
    _group(row, answer, before)
    _history(row, answer)
    topics = (f"slice:{row.name}", f"group:{row.group.name}", "slices", "overview")
    feed.publish_many((topic, "slice", {"name": row.name, "state": row.state}) for topic in topics)


def _slice(row: Slice, answer: CreateAnswer) -> None:
    now = clock.now()
    row.state = answer.slice.state.value
    row.error = answer.slice.error
    row.next_attempt_at = moment(answer.slice.retry_at) if answer.retry else None
    if answer.retry:
        # The call was refused, so nothing is under way any more.
        row.sent_at = None
    if answer.accepted:
        row.answered_at = now
    if not answer.accepted and not answer.retry:
        row.ended_at = now
    row.save(update_fields=["state", "error", "next_attempt_at", "sent_at", "answered_at", "ended_at"])


def _group(row: Slice, answer: CreateAnswer, before: Known) -> None:
    group = row.group
    if answer.markers != before.markers:
        store_markers(
            {(group.name, kind): marker for kind, marker in before.markers.items()},
            {(group.name, kind): marker for kind, marker in answer.markers.items()},
            {group.name: group.pk},
            clock.now(),
        )
    if answer.control.backoff != before.control.backoff:
        backoff = answer.control.backoff
        GroupMemory.objects.update_or_create(
            group=group,
            defaults={
                "backoff_failures": backoff.failures,
                "backoff_last_failure_at": moment(backoff.last_failure),
            },
        )
    if answer.pool is not None and answer.pool != before.pool:
        QuotaPool.objects.filter(name=answer.pool.name).update(
            learned_limit=answer.pool.learned_limit, learned_at=moment(answer.pool.learned_at)
        )


def _history(row: Slice, answer: CreateAnswer) -> None:
    """Each action follows from the one before it, the first from the request for this slice."""
    cause = row.cause_id
    for action in answer.actions:
        new: NewAction = new_action(action, cause=cause)
        cause = history.record_many([new])[0].pk
