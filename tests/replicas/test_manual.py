"""An operator's order: what a tick does towards it, and what still holds it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from scaling.replicas.answer import apply_answer
from scaling.replicas.decide import decide
from scaling.replicas.decision import Gate, Outcome, Step
from scaling.replicas.deployment import Deployment, Pause
from scaling.replicas.manual import Order, carry_out, change_for, is_reached, without_pause
from scaling.replicas.memory import ScalerMemory
from scaling.replicas.metrics import MetricSample, MetricsReading
from scaling.replicas.replica import Replica, muster

NOW = 100_000.0
DEPLOYMENT = Deployment("d1", 1, 10, target_rps=10)


def healthy(*names: str) -> list[Replica]:
    return [Replica(name, "running", True, NOW - 5000 - i, NOW - 1) for i, name in enumerate(names)]


def load(rps: float) -> MetricsReading:
    return MetricsReading(rps=MetricSample(value=rps, at=NOW))


def tick(wanted: int, replicas: list[Replica], deployment: Deployment = DEPLOYMENT, memory=ScalerMemory()):  # type: ignore[no-untyped-def] # noqa: B008
    decision = decide(without_pause(deployment), replicas, load(20), memory, NOW)
    return carry_out(Order(wanted, "ann"), decision, deployment, replicas, memory)


def test_an_order_for_more_adds_the_difference_at_once_whatever_the_load_wants() -> None:
    decision = tick(6, healthy("a", "b"))
    assert (decision.step, decision.add, decision.stop) == (Step.MANUAL, 4, ())
    assert "ann asked for 6" in decision.reason


def test_an_order_for_fewer_stops_the_oldest_and_more_than_one_at_once() -> None:
    assert tick(1, healthy("young", "older", "oldest")).stop == ("oldest", "older")


def test_an_order_is_carried_out_in_a_cooldown_and_through_a_pause() -> None:
    paused = replace(DEPLOYMENT, pause=Pause())
    cooling = ScalerMemory(last_scale_at=NOW - 1)
    assert tick(3, healthy("a"), paused, cooling).add == 2


def test_an_order_waits_for_a_fleet_that_cannot_be_read() -> None:
    decision = decide(DEPLOYMENT, None, load(20), ScalerMemory(), NOW)
    assert carry_out(Order(3, "ann"), decision, DEPLOYMENT, [], ScalerMemory()) is decision
    assert decision.gate is Gate.FLEET_UNKNOWN


def test_a_replica_that_warms_up_is_never_terminated_by_an_order() -> None:
    warming = Replica("new", "pending", False, NOW - 10)
    assert tick(0, [*healthy("a"), warming]).stop == ("a",)


def test_what_warms_up_does_not_count_as_serving_when_an_order_goes_down() -> None:
    warming = [Replica(f"new-{n}", "pending", False, NOW - 10) for n in range(3)]
    decision = tick(4, [*healthy(*(f"h{n}" for n in range(8))), *warming])
    assert len(decision.stop) == 4


def test_an_order_starts_a_cooldown_and_stays_in_the_window() -> None:
    decision = tick(5, healthy("a"))
    memory = apply_answer(ScalerMemory(), decision, Outcome.OK, NOW)
    assert memory.last_scale_at == NOW
    later = decide(DEPLOYMENT, healthy("a", "b", "c", "d", "e"), load(1), memory, NOW + 121)
    assert later.window_max == 5
    assert later.stop == ()


def test_replicas_just_asked_for_are_not_asked_for_twice_by_an_order() -> None:
    first = tick(4, healthy("a"))
    memory = apply_answer(ScalerMemory(), first, Outcome.TIMEOUT, NOW)
    assert tick(4, healthy("a"), memory=memory).add == 0


@given(st.integers(0, 20), st.integers(0, 12), st.integers(0, 5), st.integers(0, 4))
def test_carrying_an_order_out_reaches_it(wanted: int, ready: int, coming: int, failed: int) -> None:
    replicas = [*healthy(*(f"h{i}" for i in range(ready)))]
    replicas += [Replica(f"w{i}", "pending", False, NOW - 5) for i in range(coming)]
    replicas += [Replica(f"f{i}", "failed") for i in range(failed)]
    roster = muster(replicas, DEPLOYMENT, NOW)
    add, stop = change_for(wanted, roster)
    left = [one for one in replicas if one.id not in stop] + [
        Replica(f"n{i}", "pending", created=NOW) for i in range(add)
    ]
    after = muster(left, DEPLOYMENT, NOW)
    assert len(after.healthy) <= wanted
    assert len(after.healthy) == min(ready, wanted), "no more healthy ones go than are too many"
    assert is_reached(wanted, after) or len(after.healthy) + len(after.warming) > wanted
    assert not set(stop) & set(roster.warming)
