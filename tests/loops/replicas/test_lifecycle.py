"""The lifecycle loop: idle to zero by what is known, awake at a request, and replicas that are given up."""

import pytest
from django.conf import LazySettings

from scaling.history import Actor
from scaling.loops.replicas import lifecycle
from scaling.models import Action, CrashedReplica, Scaler, SourceState
from scaling.operations import scale_deployment
from scaling.replicas.decision import Outcome
from tests.loops.replicas.world import World

HOUR = 3600


@pytest.fixture
def idle(world: World) -> World:
    """A deployment with a minimum of 0 and one replica, idle for two hours."""
    world.deploy("d", healthy=1, low=0, last_request_at=world.now - 2 * HOUR)
    world.load["d"] = 0
    world.begin()
    world.tick()
    Scaler.objects.update(memory={"window": [], "first_healthy_at": world.now - 3 * HOUR})
    return world


def test_an_idle_deployment_goes_to_zero_and_says_by_whom(idle: World) -> None:
    idle.live()
    assert [call.replica_ids_to_stop for call in idle.calls] == [("d-0",)]
    row = idle.scaler("d")
    assert (row.zero_by, row.memory["last_scale_at"]) == ("lifecycle", idle.now)
    assert Action.objects.filter(kind="scale_answer", outcome="ok").exists()


def test_the_scaler_itself_leaves_the_last_one_alone(idle: World) -> None:
    idle.tick(times=3)
    assert idle.calls == []


def test_a_request_wakes_it_at_once(idle: World) -> None:
    idle.live()
    idle.change("d", last_request_at=idle.now + 4)
    idle.tick()
    assert [call.replicas_to_add for call in idle.calls[1:]] == [1]
    assert idle.scaler("d").zero_by == ""


@pytest.mark.parametrize("unknown", ["prometheus", "last_request", "gateway"])
def test_idleness_that_is_not_known_takes_nothing(idle: World, unknown: str) -> None:
    if unknown == "prometheus":
        idle.prometheus_down = True
    elif unknown == "last_request":
        idle.change("d", last_request_at=None)
    else:
        idle.change("d", replicas=None)
    idle.live()
    assert idle.calls == []


def test_a_refused_removal_is_tried_again_after_the_loops_own_cooldown(idle: World) -> None:
    idle.answer = Outcome.REFUSED
    idle.live()
    idle.live()
    assert len(idle.calls) == 1
    assert idle.scaler("d").zero_by == ""
    idle.clock.advance(61)
    idle.live()
    assert len(idle.calls) == 2


def test_a_scaler_that_was_first_keeps_the_lifecycle_from_acting(idle: World, monkeypatch: pytest.MonkeyPatch) -> None:
    original = idle.fleet

    def fleet(deadline_seconds: float):  # type: ignore[no-untyped-def]
        Scaler.objects.update(memory_version=99)
        return original(deadline_seconds)

    monkeypatch.setattr(idle, "fleet", fleet)
    idle.live()
    assert idle.calls == []


def test_an_operators_order_keeps_the_lifecycle_from_acting(idle: World, actor: Actor) -> None:
    scale_deployment(actor, "d", 1, "keep it")
    idle.live()
    assert idle.calls == []


def test_a_replica_unhealthy_for_too_long_is_given_up_and_then_removed(world: World, settings: LazySettings) -> None:
    world.deploy("d", healthy=2, low=2)
    world.begin()
    world.tick()
    broken = tuple(r.__class__(r.id, r.status, r.id != "d-0", r.created, world.now) for r in world.replicas("d"))
    world.change("d", replicas=broken)
    world.tick()
    assert all(call.replica_ids_to_stop == () for call in world.calls)
    for _ in range(12):
        world.tick(after=29)
    world.clock.advance(HOUR)
    world.live()
    assert not CrashedReplica.objects.exists(), "what was seen an hour ago is no knowledge"
    world.announce("one")
    world.manage()
    world.tick(after=1)
    world.live()
    assert [mark.replica_id for mark in CrashedReplica.objects.all()] == ["d-0"]
    assert Action.objects.get(kind="replica_crashed").target == "deployment d"
    world.tick(after=1)
    assert "d-0" in world.calls[-1].replica_ids_to_stop


def test_one_that_is_well_again_is_not_treated_as_crashed(world: World) -> None:
    world.deploy("d", healthy=2, low=2)
    world.begin()
    world.tick()
    CrashedReplica.objects.create(deployment=world.row("d"), replica_id="d-0", at=world.clock())
    world.tick()
    assert world.calls == []


def test_only_the_leader_acts(idle: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle.holders, "take", lambda *_given: None)
    idle.live()
    assert idle.calls == []


def test_the_histograms_last_bucket_is_learned_now_and_then(world: World) -> None:
    world.deploy("d")
    world.begin()
    world.tick()
    world.live()
    world.live()
    assert SourceState.objects.get(name="prometheus").facts["last_bucket_ms"] == 5000
    assert world.buckets_asked == 1
    world.clock.advance(1801)
    world.live()
    assert world.buckets_asked == 1
    world.clock.advance(1801)
    world.live()
    assert world.buckets_asked == 2


def test_a_last_bucket_that_was_not_told_is_asked_for_again_sooner(world: World) -> None:
    world.last_bucket = None
    world.deploy("d")
    world.begin()
    world.tick()
    world.live()
    world.clock.advance(1801)
    world.live()
    assert world.buckets_asked == 2


def test_a_checker_that_is_down_gives_nobody_up(world: World) -> None:
    for number in range(6):
        world.deploy(f"d{number}", healthy=2, low=2)
    world.begin()
    world.tick()
    for id_ in world.deployments:
        stale = tuple(r.__class__(r.id, r.status, False, r.created, world.now - 300) for r in world.replicas(id_))
        world.change(id_, replicas=stale)
    for _ in range(160):
        world.tick(after=25)
    world.live()
    assert not CrashedReplica.objects.exists()
    assert world.calls == []


def test_a_crashed_mark_holds_for_one_whose_check_is_dead(world: World) -> None:
    world.deploy("d", healthy=2, low=2)
    world.begin()
    world.tick()
    CrashedReplica.objects.create(deployment=world.row("d"), replica_id="d-0", at=world.clock())
    world.unchecked.add("d-0")
    world.change(
        "d",
        replicas=tuple(
            r.__class__(r.id, r.status, True, r.created, world.now - (500 if r.id == "d-0" else 0))
            for r in world.replicas("d")
        ),
    )
    world.tick()
    assert "d-0" in world.calls[-1].replica_ids_to_stop


def test_a_lease_lost_while_claiming_sends_and_records_nothing(idle: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_given: object) -> None:
        raise lifecycle.leases.LeaseLost("another leads")

    monkeypatch.setattr(lifecycle.leases, "fence", lost)
    idle.live()
    assert idle.calls == []
    assert not Action.objects.filter(kind="scale_replicas").exists()


def test_a_call_of_the_lifecycle_is_left_alone_by_the_scaler_until_it_is_answered(idle: World) -> None:
    def tick_meanwhile() -> None:
        idle.on_call = None
        idle.tick(after=1)

    idle.on_call = tick_meanwhile
    idle.live()
    assert len(idle.calls) == 1
    assert not Action.objects.filter(outcome="unknown").exists()
    assert idle.scaler("d").pending is None
