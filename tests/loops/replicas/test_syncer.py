"""The Gateway's list, kept: what changed is written, what is surely gone leaves, and on doubt nothing does."""

from scaling.history import Actor
from scaling.models import Action, Deployment, Event, SourceState
from scaling.operations import edit_deployment, forget_absent_deployments, pause_deployment
from scaling.operations.deployment_fields import effective
from tests.loops.replicas.world import REFUSED_CONNECTION, World


def test_a_new_deployment_is_stored_with_its_targets(world: World) -> None:
    world.deploy("d", low=2, high=7, rps=12.5, target_latency_p95_ms=300, last_request_at=world.now - 60)
    world.sync()
    row = world.row("d")
    assert (row.min_replicas, row.max_replicas, row.target_rps, row.target_latency_p95_ms) == (2, 7, 12.5, 300)
    assert row.last_request_at is not None
    assert Action.objects.get(kind="deployment_listed").target == "deployment d"


def test_a_list_that_says_the_same_writes_and_tells_nothing(world: World) -> None:
    world.deploy("d")
    world.sync()
    events = Event.objects.count()
    world.sync()
    assert Event.objects.count() == events


def test_a_changed_limit_is_in_force_after_the_sync(world: World) -> None:
    world.deploy("d", high=4)
    world.sync()
    world.change("d", max_replicas=9)
    world.sync()
    assert effective(world.row("d")).max_replicas == 9


def test_what_an_operator_set_stays_over_the_gateways_value(world: World, actor: Actor) -> None:
    world.deploy("d", high=4)
    world.sync()
    edit_deployment(actor, "d", 1, {"max_replicas": 6})
    world.change("d", max_replicas=9)
    world.sync()
    assert (effective(world.row("d")).max_replicas, world.row("d").max_replicas) == (6, 9)
    edit_deployment(actor, "d", 2, {"max_replicas": None})
    assert effective(world.row("d")).max_replicas == 9


def test_a_deployment_that_two_lists_lack_is_gone_and_its_history_stays(world: World) -> None:
    world.deploy("a")
    world.deploy("b")
    world.begin()
    del world.deployments["b"]
    world.sync()
    assert world.row("b").gone_at is None
    world.sync()
    assert world.row("b").gone_at == world.clock()
    assert Action.objects.filter(target="deployment b", kind="deployment_gone").exists()


def test_one_that_comes_back_is_there_again(world: World) -> None:
    world.deploy("a")
    world.deploy("b")
    world.sync()
    kept = world.deployments.pop("b")
    world.sync()
    world.sync()
    world.deployments["b"] = kept
    world.sync()
    assert (world.row("b").gone_at, world.row("b").absent_lists) == (None, 0)


def test_a_list_that_suddenly_is_empty_removes_nothing_however_often_it_comes(world: World) -> None:
    for number in range(40):
        world.deploy(f"d{number}")
    world.sync()
    world.deployments = {}
    for _ in range(10):
        world.sync()
    assert Deployment.objects.filter(gone_at=None).count() == 40
    assert SourceState.objects.get(name="gateway").warnings == [
        "The Gateway lists 0 deployments and lacks 40 of the 40 known: nothing is removed until it lists them again or "
        "an operator forgets them."
    ]


def test_an_operator_may_say_that_the_doubted_ones_are_gone(world: World, actor: Actor) -> None:
    for number in range(5):
        world.deploy(f"d{number}")
    world.sync()
    world.deployments = {}
    world.sync()
    assert forget_absent_deployments(actor, "the cluster was taken down") == 5
    assert not Deployment.objects.filter(gone_at=None).exists()
    assert Action.objects.filter(kind="forget").count() == 5


def test_a_list_that_failed_removes_nothing_and_is_said(world: World) -> None:
    world.deploy("a")
    world.sync()
    world.gateway_error = REFUSED_CONNECTION
    world.sync()
    world.sync()
    assert world.row("a").absent_since is None
    state = SourceState.objects.get(name="gateway")
    assert "cannot be reached" in state.trouble
    world.gateway_error = None
    world.sync()
    assert SourceState.objects.get(name="gateway").trouble == ""


def test_a_doubt_stays_said_while_ticks_go_on(world: World) -> None:
    for number in range(5):
        world.deploy(f"d{number}")
    world.begin()
    world.deployments = {}
    world.sync()
    events = Event.objects.filter(topic="sources").count()
    world.tick(times=3)
    world.sync()
    assert "nothing is removed" in SourceState.objects.get(name="gateway").warnings[0]
    assert Event.objects.filter(topic="sources", payload__name="gateway").count() <= events + 1


def test_a_busy_deployments_last_request_is_not_written_with_every_list(world: World) -> None:
    world.deploy("d", last_request_at=world.now)
    world.begin()
    first = world.row("d").last_request_at
    world.clock.advance(20)
    world.change("d", last_request_at=world.now)
    world.sync()
    world.tick(after=0)
    assert world.row("d").last_request_at == first
    assert world.scaler("d").latest["last_request_at"] == world.now


def test_an_empty_list_is_doubted_even_of_one(world: World) -> None:
    world.deploy("only")
    world.sync()
    world.deployments = {}
    for _ in range(5):
        world.sync()
    assert world.row("only").gone_at is None


def test_a_doubted_list_is_written_and_told_once(world: World) -> None:
    for number in range(5):
        world.deploy(f"d{number}")
    world.sync()
    world.deployments = {}
    world.sync()
    events = Event.objects.count()
    world.sync()
    assert Event.objects.count() == events


def test_what_was_forgotten_comes_back_as_new(world: World, actor: Actor) -> None:
    world.deploy("d", high=4)
    world.begin()
    world.tick()
    edit_deployment(actor, "d", 1, {"max_replicas": 6})
    pause_deployment(actor, "d")
    kept, world.deployments = world.deployments, {}
    world.sync()
    forget_absent_deployments(actor)
    world.deployments = kept
    world.sync()
    row = world.row("d")
    assert (row.overrides, row.pause_direction, row.gone_at) == ({}, "", None)
    assert world.scaler("d").memory == {}
    assert Action.objects.filter(kind="deployment_listed").count() == 2
