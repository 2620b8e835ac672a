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
from scaling.marker_checks import judge_again
from scaling.models import GroupMemory, QuotaPool, Slice
from scaling.moments import moment


@dataclass(frozen=True, slots=True)
class Known:
    """What the answer was read against: the group's open markers and control, and its pool."""

    markers: Mapping[MarkerKind, Marker]
    control: GroupControl
    pool: QuotaPoolRecord | None


# Acceptance proves nothing, so nothing of the group is read for it.
NOTHING = Known({}, GroupControl(), None)


def store_answer(row: Slice, answer: CreateAnswer, before: Known) -> None:
    """`row` as it was claimed, its group loaded; nothing is stored when it has moved on since."""
    if not _slice(row, answer):
        return
    _group(row, answer, before)
    _history(row, answer)
    topics = (f"slice:{row.name}", f"group:{row.group.name}", "slices", "overview")
    state = answer.slice.state.value
    feed.publish_many((topic, "slice", {"name": row.name, "state": state}) for topic in topics)


def _slice(row: Slice, answer: CreateAnswer) -> bool:
    now = clock.now()
    mine = Slice.objects.filter(pk=row.pk, state=Slice.State.REQUESTING, attempts=row.attempts)
    changed = mine.update(
        state=answer.slice.state.value,
        error=answer.slice.error,
        next_attempt_at=moment(answer.slice.retry_at) if answer.retry else None,
        # A refused call leaves nothing under way.
        sent_at=None if answer.retry else row.sent_at,
        answered_at=now if answer.accepted else None,
        ended_at=None if answer.accepted or answer.retry else now,
    )
    return changed == 1


def _group(row: Slice, answer: CreateAnswer, before: Known) -> None:
    group = row.group
    if answer.markers != before.markers:
        store_markers(
            {(group.name, kind): marker for kind, marker in before.markers.items()},
            {(group.name, kind): marker for kind, marker in answer.markers.items()},
            {group.name: group.pk},
            clock.now(),
        )
        judge_again(group)
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
