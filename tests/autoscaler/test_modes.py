"""What is planned for and not sent: a platform that is observed, and the one control that stops everything."""

from scaling.autoscaler.models import (
    ActionKind,
    ClusterState,
    Mode,
    Pause,
    PlatformStatus,
    ScalingGroup,
    Slice,
    Worker,
)
from tests.autoscaler.cluster import tpu
from tests.autoscaler.listed import GROUP, NOW, cycle, item, seen, state


def observed(*slices: Slice, **fields: object) -> ClusterState:
    return state(*slices, platforms={"simulated": PlatformStatus(Mode.OBSERVE)}, **fields)


def test_an_observed_platform_is_planned_for_and_nothing_is_sent() -> None:
    idle = item(workers=(Worker(0, idle_since=0.0), Worker(1, idle_since=0.0)))
    group = GROUP.edited({"min_slices": 0})
    stored = observed(idle, groups={"t": group, "u": ScalingGroup(tpu("u", min_slices=2))})
    result = cycle(stored, seen())

    assert (result.evaluations["u"].scale_up, result.evaluations["t"].scale_down) == (2, ("s",))
    assert (result.creates, result.deletes) == ((), ())
    assert result.state.slices == {"s": idle}
    assert {action.kind for action in result.actions if action.observed} == {
        ActionKind.SCALE_UP,
        ActionKind.SCALE_DOWN,
    }


def test_observing_takes_no_tokens() -> None:
    stored = observed(groups={"u": ScalingGroup(tpu("u", min_slices=40, max_slices=50))})

    for number in range(3):
        result = cycle(stored, now=NOW + number)
        stored = result.state
        assert result.evaluations["u"].scale_up == 16
    assert stored.create_bucket is not None
    assert stored.create_bucket.tokens == 60


def test_one_control_stops_all_buying_and_releasing() -> None:
    idle = item(workers=(Worker(0, idle_since=0.0), Worker(1, idle_since=0.0)))
    groups = {"t": GROUP, "u": ScalingGroup(tpu("u", min_slices=2))}
    result = cycle(state(idle, groups=groups, halted=Pause(NOW - 1, "ann")), seen())

    assert (result.creates, result.deletes) == ((), ())
    assert {evaluation.outcome for evaluation in result.evaluations.values()} == {"PAUSED"}
    assert "ann" in result.evaluations["u"].detail
