"""Step 5 of a cycle as pure rules: what an answer of a platform to a create means for the slice and its group."""

from collections.abc import Mapping
from dataclasses import dataclass

from scaling.autoscaler.failure_rules import FailureClass, classify_create_failure
from scaling.autoscaler.models import Action, GroupControl, Marker, MarkerKind, QuotaPool, ScalingGroup, Slice

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
