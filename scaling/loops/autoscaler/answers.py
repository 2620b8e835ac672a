"""Stores what a platform's answer to a create means, in the caller's transaction."""

from scaling import clock, feed, history
from scaling.autoscaler.provisioning import CreateAnswer
from scaling.history import NewAction
from scaling.loops.autoscaler import records
from scaling.loops.autoscaler.history_rows import new_action
from scaling.loops.autoscaler.markers import store_markers
from scaling.loops.autoscaler.moments import moment
from scaling.models import GroupMemory, Marker, QuotaPool, Slice


def store_answer(row: Slice, answer: CreateAnswer) -> None:
    """`row` is locked and still as the answer was made for; its group is loaded."""
    _slice(row, answer)
    _group(row, answer)
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


def _group(row: Slice, answer: CreateAnswer) -> None:
    group = row.group
    stored = Marker.objects.filter(group=group, closed_at__isnull=True).select_related("group")
    before = {(group.name, marker.kind): marker for marker in map(records.marker_record, stored)}
    after = {(group.name, kind): marker for kind, marker in answer.markers.items()}
    store_markers(before, after, {group.name: group.pk}, clock.now())
    backoff = answer.control.backoff
    GroupMemory.objects.update_or_create(
        group=group,
        defaults={
            "backoff_failures": backoff.failures,
            "backoff_last_failure_at": moment(backoff.last_failure),
        },
    )
    if answer.pool is not None:
        QuotaPool.objects.filter(name=answer.pool.name).update(
            learned_limit=answer.pool.learned_limit, learned_at=moment(answer.pool.learned_at)
        )


def _history(row: Slice, answer: CreateAnswer) -> None:
    """Each action follows from the one before it, the first from the request for this slice."""
    cause = row.cause_id
    for action in answer.actions:
        new: NewAction = new_action(action, cause=cause)
        cause = history.record_many([new])[0].pk
