"""Acts on a deployment: each checks, changes and writes its Action, or says in a sentence why not."""

from datetime import datetime, timedelta

import pytest

from scaling import clock
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Action, Deployment, Event, Scaler
from scaling.operations import (
    InvalidRequest,
    NotFound,
    OperationRefused,
    StaleVersion,
    edit_deployment,
    forget_absent_deployments,
    pause_deployment,
    resume_deployment,
    scale_deployment,
    wake_deployment,
)
from scaling.operations.deployment_fields import From, effective, source_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def row(frozen_clock: FrozenClock) -> Deployment:
    made = Deployment.objects.create(
        deployment_id="chat", min_replicas=1, max_replicas=8, target_rps=10, first_seen_at=clock.now()
    )
    Scaler.objects.create(deployment=made, latest={"healthy": 2, "warming": 0})
    return made


def later(**span: float) -> datetime:
    return clock.now() + timedelta(**span)


def fresh() -> Deployment:
    return Deployment.objects.get()


def test_a_pause_keeps_who_why_which_direction_and_until_when(row: Deployment, actor: Actor) -> None:
    paused = pause_deployment(actor, "chat", "down", later(hours=1), "release day", version=1)
    assert (paused.pause_direction, paused.pause_by, paused.pause_reason) == ("down", "ada", "release day")
    action = Action.objects.get()
    assert (action.kind, action.target, action.reason) == ("pause", "deployment chat", "release day")
    assert action.after is not None
    assert action.after["pause_direction"] == "down"
    assert Event.objects.filter(topic="deployment:chat").exists()


def test_pausing_a_paused_one_is_accepted_only_where_it_changes_something(row: Deployment, actor: Actor) -> None:
    pause_deployment(actor, "chat", "both", later(hours=1))
    with pytest.raises(OperationRefused, match="chat is paused already"):
        pause_deployment(actor, "chat", "both", later(hours=1))
    pause_deployment(actor, "chat", "up", later(hours=1))
    assert fresh().pause_direction == "up"


@pytest.mark.parametrize("direction", ["sideways", "", 5, None])
def test_a_direction_that_is_none_is_refused_by_its_name(row: Deployment, actor: Actor, direction: object) -> None:
    with pytest.raises(InvalidRequest, match="direction: expected one of both, up, down"):
        pause_deployment(actor, "chat", direction)  # type: ignore[arg-type]
    assert not Action.objects.exists()


def test_an_expiry_lies_ahead(row: Deployment, actor: Actor) -> None:
    with pytest.raises(InvalidRequest, match="until: expected a time in the future"):
        pause_deployment(actor, "chat", "both", later(hours=-1))


def test_a_pause_that_is_over_cannot_be_resumed(row: Deployment, actor: Actor, frozen_clock: FrozenClock) -> None:
    pause_deployment(actor, "chat", "both", later(minutes=1))
    frozen_clock.advance(60)
    with pytest.raises(OperationRefused, match="chat is not paused"):
        resume_deployment(actor, "chat")


def test_resuming_clears_the_pause(row: Deployment, actor: Actor) -> None:
    pause_deployment(actor, "chat")
    resume_deployment(actor, "chat", "all is well")
    assert (fresh().pause_direction, fresh().pause_until) == ("", None)


def test_two_editors_cannot_overwrite_each_other(row: Deployment, actor: Actor) -> None:
    edit_deployment(actor, "chat", 1, {"max_replicas": 9})
    with pytest.raises(
        StaleVersion,
        match="deployment chat has changed since you looked at it: ada changed Max replicas from none to 9, just now",
    ):
        edit_deployment(Actor.user("bob"), "chat", 1, {"max_replicas": 20})
    assert effective(fresh()).max_replicas == 9


def test_an_edit_stands_over_the_gateways_value_and_null_takes_it_back(row: Deployment, actor: Actor) -> None:
    edit_deployment(actor, "chat", 1, {"target_rps": 4, "cooldown_seconds": 30})
    assert (effective(fresh()).target_rps, effective(fresh()).cooldown_seconds) == (4, 30)
    assert source_of(fresh(), "target_rps") is From.OVERRIDE
    assert source_of(fresh(), "max_replicas") is From.GATEWAY
    assert source_of(fresh(), "tolerance") is From.DEFAULT
    edit_deployment(actor, "chat", 2, {"target_rps": None})
    assert effective(fresh()).target_rps == 10
    assert Action.objects.latest("pk").before == {"target_rps": 4.0}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"max_replicas": 0}, "max_replicas: expected at least min_replicas (1), got 0"),
        ({"min_replicas": 9}, "min_replicas: expected at most max_replicas (8), got 9"),
        ({"min_replicas": -1}, "min_replicas: expected a whole number of at least 0, got -1"),
        ({"tolerance": 1}, "tolerance: expected a number of at most 1, got 1"),
        ({"scale_up_limit": 0}, "scale_up_limit: expected a whole number of at least 1, got 0"),
        ({"max_replica": 3}, 'max_replica: unknown field; did you mean "max_replicas"?'),
    ],
)
def test_a_wrong_setting_is_named_and_changes_nothing(
    row: Deployment, actor: Actor, changes: dict[str, object], sentence: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        edit_deployment(actor, "chat", 1, changes)
    assert str(refused.value) == sentence
    assert fresh().overrides == {}


def test_setting_what_is_set_already_is_refused(row: Deployment, actor: Actor) -> None:
    edit_deployment(actor, "chat", 1, {"max_replicas": 9})
    with pytest.raises(OperationRefused, match="nothing to change"):
        edit_deployment(actor, "chat", 2, {"max_replicas": 9})


def test_scale_now_is_an_order_for_the_scaler_and_moves_its_version(row: Deployment, actor: Actor) -> None:
    scale_deployment(actor, "chat", 5, "launch")
    assert (fresh().wanted_replicas, fresh().wanted_by) == (5, "ada")
    assert fresh().wanted_action_id == Action.objects.get(kind="scale").pk
    assert Scaler.objects.get().memory_version == 1


@pytest.mark.parametrize("replicas", [9, -1, 2.5, "two", None, True])
def test_scale_now_keeps_to_the_limits_in_force(row: Deployment, actor: Actor, replicas: object) -> None:
    with pytest.raises(OperationRefused, match=r"^replicas: expected"):
        scale_deployment(actor, "chat", replicas)  # type: ignore[arg-type]
    assert fresh().wanted_replicas is None


def test_zero_is_held_by_an_operator_until_woken(row: Deployment, actor: Actor) -> None:
    scale_deployment(actor, "chat", 0)
    assert Scaler.objects.get().zero_by == "operator"
    wake_deployment(actor, "chat")
    assert (Scaler.objects.get().zero_by, fresh().wanted_replicas) == ("", 1)


def test_a_deployment_that_serves_is_not_woken(row: Deployment, actor: Actor) -> None:
    with pytest.raises(OperationRefused, match="chat is not at zero: it has 2 healthy"):
        wake_deployment(actor, "chat")


def test_scaling_above_zero_ends_a_hold_at_zero(row: Deployment, actor: Actor) -> None:
    scale_deployment(actor, "chat", 0)
    scale_deployment(actor, "chat", 2)
    assert Scaler.objects.get().zero_by == ""


def test_nothing_is_done_to_a_deployment_that_is_gone_or_never_was(row: Deployment, actor: Actor) -> None:
    with pytest.raises(NotFound):
        pause_deployment(actor, "chatt")
    Deployment.objects.update(gone_at=clock.now())
    with pytest.raises(OperationRefused, match="chat is gone"):
        pause_deployment(actor, "chat")


def test_forgetting_needs_something_that_the_gateway_lacks(row: Deployment, actor: Actor) -> None:
    with pytest.raises(OperationRefused, match="the Gateway lists every deployment"):
        forget_absent_deployments(actor)
