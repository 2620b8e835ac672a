"""A tick of an instance: it follows the load, writes its calls down first, and holds on doubt."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scaling.history import Actor
from scaling.loops.replicas import telling
from scaling.models import Action, DeploymentSample, Event, Scaler, SourceState
from scaling.operations import pause_deployment, resume_deployment, scale_deployment, wake_deployment
from scaling.replicas.decision import Outcome
from tests.loops.replicas.world import REFUSED_CONNECTION, World


def test_a_load_above_its_target_buys_replicas_with_one_call(world: World) -> None:
    world.deploy("d", healthy=2)
    world.load["d"] = 40
    world.begin()
    world.tick()
    assert [(call.replicas_to_add, call.replica_ids_to_stop) for call in world.calls] == [(2, ())]
    latest = world.scaler("d").latest
    assert (latest["desired"], latest["add"], latest["outcome"]) == (4, 2, "ok")


def test_the_call_and_its_answer_are_two_actions_of_which_the_first_is_the_cause(world: World) -> None:
    world.deploy("d", healthy=2)
    world.load["d"] = 40
    world.begin()
    world.tick()
    sent, answer = Action.objects.filter(kind__startswith="scale_").order_by("pk")
    assert (sent.target, sent.outcome, sent.after) == ("deployment d", "sent", {"add": 2, "stop": []})
    assert (answer.cause_id, answer.outcome) == (sent.pk, "ok")
    assert world.decisions("d")[-1].action_id == sent.pk


def test_nothing_is_posted_where_nothing_changes(world: World) -> None:
    world.deploy("d", healthy=3)
    world.begin()
    world.tick(times=20)
    assert world.calls == []


def test_a_call_is_written_down_before_it_is_sent(world: World) -> None:
    world.deploy("d", healthy=2)
    world.load["d"] = 40
    world.begin()
    seen: list[Scaler] = []
    world.on_call = lambda: seen.append(world.scaler("d"))
    world.tick()
    assert seen[0].pending["add"] == 2  # type: ignore[index]
    assert seen[0].memory["asked"][0]["count"] == 2
    assert world.scaler("d").pending is None


def test_a_tick_that_died_between_call_and_answer_does_not_buy_again(world: World) -> None:
    world.deploy("d", healthy=2)
    world.load["d"] = 40
    world.begin()
    world.shown = False

    def die() -> None:
        raise KeyboardInterrupt

    world.on_call = die
    with pytest.raises(KeyboardInterrupt):
        world.tick()
    world.on_call = None
    world.tick(times=5)
    assert len(world.calls) == 1
    assert Action.objects.get(outcome="unknown").cause_id == Action.objects.get(kind="scale_replicas").pk


def test_a_refused_call_is_tried_again_and_told_once(world: World) -> None:
    world.deploy("d", healthy=2)
    world.load["d"] = 40
    world.begin()
    world.answer = Outcome.REFUSED
    world.tick(times=6)
    assert len(world.calls) == 6
    assert Action.objects.filter(kind="scale_replicas").count() == 1
    assert Action.objects.filter(kind="scale_answer", outcome="refused").count() == 1
    assert len(world.decisions("d")) == 1
    assert world.scaler("d").memory["last_scale_at"] is None
    world.answer = Outcome.OK
    world.tick()
    assert Action.objects.filter(kind="scale_answer", outcome="ok").count() == 1


def test_a_timed_out_call_counts_as_done(world: World) -> None:
    world.deploy("d", healthy=2)
    world.load["d"] = 40
    world.begin()
    world.answer = Outcome.TIMEOUT
    world.tick(times=5)
    assert len(world.calls) == 1
    assert world.scaler("d").memory["last_scale_at"] is not None


def test_a_gateway_that_is_away_changes_nothing_and_is_said(world: World) -> None:
    world.deploy("d", healthy=3)
    world.begin()
    world.tick()
    before = world.scaler("d").memory
    world.gateway_error = REFUSED_CONNECTION
    world.tick(times=3)
    row = world.scaler("d")
    assert (row.latest["gate"], row.memory, len(row.replicas)) == ("fleet_unknown", before, 3)
    assert "cannot be reached" in SourceState.objects.get(name="gateway").trouble
    world.gateway_error = None
    world.tick()
    assert SourceState.objects.get(name="gateway").trouble == ""
    assert world.scaler("d").latest["gate"] == ""


def test_a_deployment_that_the_list_suddenly_lacks_is_held(world: World) -> None:
    for number in range(40):
        world.deploy(f"d{number}", healthy=2)
    world.begin()
    world.tick()
    kept, world.deployments = world.deployments, {}
    world.sync()
    world.tick()
    world.sync()
    world.sync()
    assert world.calls == []
    assert world.scaler("d1").latest["gate"] == "fleet_unknown"
    assert world.row("d1").gone_at is None
    world.deployments = kept
    world.sync()
    world.tick()
    assert world.row("d1").absent_since is None
    assert world.scaler("d1").latest["gate"] == ""


def test_prometheus_away_holds_the_load_and_not_the_floor(world: World) -> None:
    world.deploy("busy", healthy=2)
    world.deploy("short", healthy=1, low=3)
    world.load["busy"] = 100
    world.begin()
    world.prometheus_down = True
    world.tick()
    assert [(call.deployment_id, call.replicas_to_add) for call in world.calls] == [("short", 2)]
    assert world.scaler("busy").latest["gate"] == "prometheus_down"
    assert SourceState.objects.get(name="prometheus").trouble


def test_a_deployment_missing_from_the_answer_is_missing_for_itself_alone(world: World) -> None:
    world.deploy("a", healthy=2)
    world.deploy("b", healthy=2)
    world.load |= {"a": None, "b": 40}
    world.begin()
    world.tick(times=2)
    assert world.scaler("a").latest["gate"] == "metrics_unavailable"
    assert world.scaler("a").latest["metrics_missing_since"] == pytest.approx(world.now - 5)
    assert [call.deployment_id for call in world.calls] == ["b"]


def test_cooldown_and_window_outlive_the_process_and_a_change_of_holder(world: World) -> None:
    world.deploy("d", healthy=2)
    world.load["d"] = 40
    world.begin("one", "two")
    world.tick("one")
    scaled_at = world.scaler("d").memory["last_scale_at"]
    world.warm("d")
    world.load["d"] = 80
    world.clock.advance(31)
    world.announce("two")
    world.manage("two")
    world.tick("two")
    row = world.scaler("d")
    assert (row.holder, row.token) == ("two", 2)
    assert (row.latest["gate"], row.memory["last_scale_at"]) == ("cooldown", scaled_at)
    assert len(world.calls) == 1


def test_a_holder_that_lost_its_lease_neither_writes_nor_calls(world: World) -> None:
    world.deploy("d", healthy=2)
    world.begin("one")
    world.tick("one")
    Scaler.objects.update(expires_at=world.clock() + timedelta(seconds=4))
    world.load["d"] = 80
    world.tick("one", after=5)
    assert world.calls == []


def test_a_scaler_taken_while_a_tick_decides_is_left_to_its_new_holder(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.deploy("d", healthy=2)
    world.load["d"] = 80
    world.begin("one")
    original = world.fleet

    def fleet(deadline_seconds: float):  # type: ignore[no-untyped-def]
        Scaler.objects.update(holder="two", token=9)
        return original(deadline_seconds)

    monkeypatch.setattr(world, "fleet", fleet)
    world.tick("one")
    assert world.calls == []
    assert world.scaler("d").pending is None


def test_an_act_that_comes_while_a_tick_decides_makes_it_look_again(
    world: World, monkeypatch: pytest.MonkeyPatch, actor: Actor
) -> None:
    world.deploy("d", healthy=2)
    world.load["d"] = 80
    world.begin("one")
    original = world.fleet

    def fleet(deadline_seconds: float):  # type: ignore[no-untyped-def]
        scale_deployment(actor, "d", 0, "stop it")
        return original(deadline_seconds)

    monkeypatch.setattr(world, "fleet", fleet)
    world.tick("one")
    assert world.calls == []


def test_scale_now_is_carried_out_by_the_next_tick_and_ends_when_reached(world: World, actor: Actor) -> None:
    world.deploy("d", healthy=2)
    world.begin()
    world.tick()
    row = scale_deployment(actor, "d", 6, "launch")
    world.tick()
    assert world.calls[-1].replicas_to_add == 4
    sent = Action.objects.get(kind="scale_replicas")
    assert sent.cause_id == row.wanted_action_id
    world.warm("d")
    world.tick()
    assert world.row("d").wanted_replicas is None
    assert Action.objects.get(kind="scale_done").outcome == "reached"
    world.load["d"] = 1
    world.tick(times=3)
    assert len(world.calls) == 1


def test_a_manual_zero_stays_zero_until_it_is_woken(world: World, actor: Actor) -> None:
    world.deploy("d", healthy=2, last_request_at=world.now)
    world.begin()
    world.tick()
    scale_deployment(actor, "d", 0, "stop it")
    world.tick()
    assert set(world.calls[-1].replica_ids_to_stop) == {"d-0", "d-1"}
    world.change("d", last_request_at=world.now)
    world.clock.advance(200)
    world.announce("one")
    world.manage()
    world.tick(times=4)
    assert world.replicas("d") == ()
    assert world.scaler("d").zero_by == "operator"
    wake_deployment(actor, "d")
    world.tick()
    assert len(world.replicas("d")) == 1


def test_a_pause_down_stops_removals_only(world: World, actor: Actor) -> None:
    world.deploy("d", healthy=4)
    world.load["d"] = 1
    world.begin()
    pause_deployment(actor, "d", "down", world.clock() + timedelta(hours=2), "release day")
    Scaler.objects.update(memory={"window": []})
    world.tick(times=2)
    assert world.calls == []
    assert world.scaler("d").latest["bound"] == "paused_down"
    resume_deployment(actor, "d")
    world.tick()
    assert world.calls[-1].replica_ids_to_stop


def test_a_pause_ends_by_itself(world: World, actor: Actor) -> None:
    world.deploy("d", healthy=2)
    world.load["d"] = 80
    world.begin()
    pause_deployment(actor, "d", "both", world.clock() + timedelta(seconds=12), "")
    world.tick(times=2)
    assert world.scaler("d").latest["gate"] == "paused"
    world.tick()
    assert world.calls


def test_decisions_that_say_the_same_are_stored_once_and_every_five_minutes(world: World) -> None:
    world.deploy("d", healthy=2)
    world.begin()
    world.tick()
    first = len(world.decisions("d"))
    world.tick(times=58)
    assert len(world.decisions("d")) == first
    world.tick(times=3)
    assert len(world.decisions("d")) == first + 1


def test_a_decision_record_tells_inputs_proposals_and_limits(world: World) -> None:
    world.deploy("d", healthy=2)
    world.load["d"] = 40
    world.begin()
    world.tick()
    record = world.decisions("d")[-1].record
    assert record["inputs"]["rps"]["value"] == 40
    assert record["inputs"]["rps"]["query"].startswith("sum by")
    assert {limit["code"] for limit in record["limits"]} >= {"window", "cooldown", "max_replicas"}
    assert record["message"] == "said ok"


def test_the_charts_get_a_point_and_the_pages_one_event_a_tick(world: World) -> None:
    for number in range(30):
        world.deploy(f"d{number}")
    world.begin()
    world.tick(times=5)
    assert DeploymentSample.objects.count() == 60, "one for each deployment in each quarter of a minute"
    assert Event.objects.filter(topic="deployments", kind="tick").count() == 5


def test_the_points_of_a_large_fleet_are_spread_over_the_ticks_of_a_minute(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telling, "LARGE_FLEET", 20)
    for number in range(60):
        world.deploy(f"d{number}")
    world.begin()
    world.tick()
    at_first = DeploymentSample.objects.count()
    written = []
    for _tick in range(12):
        world.tick()
        written.append(DeploymentSample.objects.count() - at_first - sum(written))
    assert at_first == 60
    assert written == [5] * 12


def test_a_tick_takes_a_handful_of_statements_whatever_the_number_of_deployments(world: World) -> None:
    counts = []
    for total in (5, 60):
        for number in range(total):
            world.deploy(f"d{number}")
        world.begin()
        world.tick()
        with CaptureQueriesContext(
            connection,
        ) as queries:
            world.tick()
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert counts[0] < 25


def test_a_checker_that_is_down_holds_the_whole_fleet(world: World) -> None:
    for number in range(6):
        world.deploy(f"d{number}", healthy=2)
    world.begin()
    world.tick()
    for id_ in world.deployments:
        stale = tuple(r.__class__(r.id, r.status, False, r.created, world.now - 300) for r in world.replicas(id_))
        world.change(id_, replicas=stale)
    world.tick()
    assert world.calls == []
    assert world.scaler("d0").latest["gate"] == "fleet_unknown"


def test_a_checker_whose_memory_was_wiped_holds_the_fleet_too(world: World) -> None:
    for number in range(6):
        world.deploy(f"d{number}", healthy=2)
    world.begin("one", most=3)
    world.announce("two", 10)
    world.manage("two")
    world.tick("one")
    world.tick("two", after=0)
    for id_ in world.deployments:
        blank = tuple(r.__class__(r.id, r.status, False, r.created, None) for r in world.replicas(id_))
        world.change(id_, replicas=blank)
    world.tick("one")
    assert world.calls == []
    assert world.scaler("d0").latest["gate"] == "fleet_unknown"


def test_what_comes_up_late_at_a_held_zero_goes_as_well(world: World, actor: Actor) -> None:
    world.deploy("d", healthy=1)
    world.change("d", replicas=(*world.replicas("d"), world._replica("late", healthy=False, age=5)))
    world.begin()
    world.tick()
    scale_deployment(actor, "d", 0, "stop it")
    world.tick()
    for _ in range(50):
        world.tick(after=25)
    world.warm("d")
    world.tick()
    assert world.calls[-1].replica_ids_to_stop == ("late",)
    assert world.scaler("d").zero_by == "operator"


def test_a_late_answer_never_wipes_another_holders_call(world: World) -> None:
    world.deploy("d", healthy=2)
    world.load["d"] = 40
    world.begin()

    def taken_over() -> None:
        Scaler.objects.update(holder="two", token=9, memory_version=50, pending={"at": world.now + 1, "add": 1})

    world.on_call = taken_over
    world.tick()
    assert world.scaler("d").pending["add"] == 1  # type: ignore[index]


def test_a_replica_once_healthy_is_remembered_as_such(world: World) -> None:
    world.deploy("d", healthy=1, low=1)
    world.begin()
    world.tick()
    young = [r.__class__(r.id, r.status, False, world.now - 60, world.now) for r in world.replicas("d")]
    world.change("d", replicas=tuple(young))
    world.tick()
    assert world.scaler("d").replicas[0][6] == "unhealthy"
    assert world.scaler("d").replicas[0][7] == datetime.fromtimestamp(world.now, UTC).timestamp()
