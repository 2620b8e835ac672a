"""Step 5 of a cycle, its answers: what a platform's answer to a create means for the slice and its group."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from scaling.autoscaler import markers as rules
from scaling.autoscaler.books import marker_words
from scaling.autoscaler.failure_rules import Failure, FailureClass, classify_create_failure, diagnose_failure
from scaling.autoscaler.models import (
    Action,
    ActionKind,
    GroupControl,
    Marker,
    MarkerKind,
    QuotaPool,
    ScalingGroup,
    Slice,
    SliceState,
)

__all__ = ["CreateAnswer", "FailureClass", "apply_create_answer", "classify_create_failure"]


@dataclass(frozen=True, slots=True)
class CreateAnswer:
    """What is to be stored after an answer: the slice, its group's open markers and control, its pool, the actions.

    `accepted`: the platform has it now (also when it had it before). `retry`: to be asked for again at
    `slice.retry_at`. Neither: it failed.
    """

    slice: Slice
    markers: Mapping[MarkerKind, Marker]
    control: GroupControl
    pool: QuotaPool | None
    actions: tuple[Action, ...]
    accepted: bool
    retry: bool


def apply_create_answer(
    slice_: Slice,
    error: object,
    group: ScalingGroup,
    markers: Mapping[MarkerKind, Marker],
    control: GroupControl,
    pool: QuotaPool | None,
    now: float,
    retry_delay: float = 0.0,
) -> CreateAnswer:
    """What the platform's immediate answer to a create means; `error` is None when it accepted.

    `markers` are the open ones of the slice's group, by kind; `pool` is the group's quota pool. Accepted, or existing
    already under our name: BOOTING. A per-minute rate limit: stays REQUESTING, to be asked for again after
    `retry_delay` seconds (the caller's jitter). Any other error: FAILED, with a marker on the group, and a limit
    learned where the text names the pool's own metric.
    """
    failure = None if error is None else diagnose_failure(error)
    unchanged = CreateAnswer(slice_, markers, control, pool, (), accepted=False, retry=False)
    if failure is None or failure.already_exists:
        # A listing may have told of it, even as READY, before the answer came.
        state = SliceState.BOOTING if slice_.state is SliceState.REQUESTING else slice_.state
        return replace(unchanged, slice=replace(slice_, state=state, retry_at=None), accepted=True)
    if failure.rate_limited:
        waiting = replace(slice_, retry_at=now + retry_delay, error=failure.text)
        return replace(unchanged, slice=waiting, retry=True)
    return _refused(unchanged, failure, group, now)


def _refused(before: CreateAnswer, failure: Failure, group: ScalingGroup, now: float) -> CreateAnswer:
    name = before.slice.name
    actions = [Action(ActionKind.CREATE_FAILED, group.name, name, failure.text, now)]
    marker, memory = rules.after_failure(group.name, failure, before.markers, before.control.backoff, now)
    old = before.markers.get(marker.kind)
    if old is None or old.until != marker.until:
        actions.append(Action(ActionKind.MARKER_SET, group.name, "", marker_words(marker), now))
    return replace(
        before,
        slice=replace(before.slice, state=SliceState.FAILED, retry_at=None, error=failure.text),
        markers={**before.markers, marker.kind: marker},
        control=replace(before.control, backoff=memory),
        pool=before.pool and rules.learned(before.pool, failure, now),
        actions=tuple(actions),
    )
