"""Replicas asked for and not yet listed: a lagging list or a lost answer never buys twice."""

import pytest

from scaling.replicas.answer import apply_answer
from scaling.replicas.decide import decide
from scaling.replicas.decision import Outcome, Step
from scaling.replicas.memory import Asked, ScalerMemory, ZeroBy, not_yet_listed, settle
from scaling.replicas.replica import Replica
from tests.replicas.support import (
    OLD,
    class_column,
    column,
    decided,
    deployment,
    drained,
    healthy,
    plan,
    reading,
)


def ids(*names: str) -> frozenset[str]:
    return frozenset(names)


def call(at: float, count: int, *known: str) -> Asked:
    return Asked(at, count, ids(*known))


@pytest.mark.parametrize(("age", "counted"), [(0, 3), (59.9, 3), (60, 0), (600, 0)])
def test_they_count_for_a_minute(age: float, counted: int) -> None:
    assert not_yet_listed([call(-age, 3, "a")], ids("a"), 0) == counted


@pytest.mark.parametrize(
    ("listed", "counted"),
    [
        (ids("a"), 3),
        (ids("a", "x"), 2),
        (ids("a", "x", "y", "z"), 0),
        (ids("a", "x", "y", "z", "w"), 0),
        (ids(), 3),
    ],
)
def test_each_id_that_was_not_there_before_stands_for_one(listed: frozenset[str], counted: int) -> None:
    assert not_yet_listed([call(0, 3, "a")], listed, 1) == counted


def test_an_id_never_stands_for_two_calls() -> None:
    calls = [call(0, 2, "a"), call(5, 1, "a", "x")]
    assert not_yet_listed(calls, ids("a", "x"), 6) == 2
    assert not_yet_listed(calls, ids("a", "x", "y"), 6) == 1
    assert not_yet_listed(calls, ids("a", "x", "y", "z"), 6) == 0


def test_a_list_that_goes_back_in_time_counts_them_again() -> None:
    calls = [call(0, 2, "a")]
    assert [not_yet_listed(calls, listed, 9) for listed in (ids("a", "x", "y"), ids("a"))] == [0, 2]


def test_one_that_came_and_ended_is_not_waited_for_again() -> None:
    settled = settle([call(0, 2, "a")], ["x"], 5)
    assert not_yet_listed(settled, ids("a"), 5) == 1
    assert not_yet_listed(settled, ids("a", "x"), 5) == 1
    assert settle(settled, ["y"], 6) == ()


def test_an_ended_one_that_was_there_before_settles_nothing() -> None:
    assert settle([call(0, 2, "a")], ["a"], 5) == (call(0, 2, "a"),)


def test_an_ended_one_is_taken_off_one_call_only() -> None:
    settled = settle([call(0, 1, "a"), call(5, 1, "a")], ["x"], 6)
    assert settled == (call(0, 1, "a", "x"),)


def test_a_lagging_list_does_not_buy_again() -> None:
    hot = {"p95_latency_ms": 1500, "rps": 20}
    run = plan(
        {"cooldown": 0}, {"healthy": 2}, hot, ticks=5, every=15, timeline=[{"at": 1, "replicas": {"healthy": 2}}]
    )
    assert column(run, "add") == [4, 0, 0, 0, 4]
    assert class_column(run, "warming") == [0, 4, 4, 4, 0]


def test_a_list_that_shows_them_later_counts_them_once() -> None:
    run = plan(
        {"min_replicas": 3},
        {"healthy": 1},
        ticks=4,
        timeline=[
            {"at": 5, "replicas": {"healthy": 1}},
            {"at": 10, "replicas": {"healthy": 1, "warming": 1}},
            {"at": 15, "replicas": {"healthy": 1, "warming": 2}},
        ],
    )
    assert class_column(run, "warming") == [0, 2, 2, 2]
    assert column(run, "add") == [2, 0, 0, 0]


def test_a_list_that_lagged_for_a_while_comes_back_as_it_would_be() -> None:
    run = plan(
        {"min_replicas": 3},
        {"healthy": 1},
        ticks=14,
        timeline=[{"at": 5, "replicas": {"healthy": 1}, "for": 20}],
    )
    assert class_column(run, "warming") == [0] + [2] * 11 + [0, 0]
    assert class_column(run, "healthy") == [1] * 12 + [3, 3]


def test_bought_ones_that_fail_at_once_are_replaced_at_once() -> None:
    run = plan(
        {"min_replicas": 2},
        [],
        {},
        ticks=4,
        timeline=[{"at": 5, "replicas": {"failed": 2}}],
    )
    assert column(run, "add") == [2, 2, 0, 0]
    assert column(run, "stop") == [[], ["failed-1", "failed-2"], [], []]
    assert class_column(run, "warming") == [0, 0, 2, 2]


def test_a_crash_loop_is_followed_tick_by_tick() -> None:
    """Each replacement fails as soon as it is listed: one is bought per tick, none is forgotten or doubled."""
    memory, settings = ScalerMemory(window=()), deployment()
    listed: list[Replica] = []
    for tick in range(12):
        now = 5.0 * tick
        decision = decide(settings, listed, reading(at=now), memory, now)
        assert (decision.add, decision.step in {Step.BOOTSTRAP, Step.FLOOR}) == (1, True)
        assert decision.stop == tuple(replica.id for replica in listed)
        memory = apply_answer(memory, decision, Outcome.OK, now)
        listed = [Replica(f"r{tick}", "failed", created=now)]
    assert len(memory.asked) == 1


def test_a_leaving_one_of_ours_is_not_waited_for_again() -> None:
    memory = drained(asked=(call(-10, 1, "h1"),))
    leaving = Replica("new", "stopping", created=-9)
    seen = decided(deployment(), [*healthy(1), leaving], memory=memory)
    assert seen.counts is not None
    assert seen.counts.warming == 0
    after = apply_answer(memory, seen, Outcome.NOT_SENT, 0)
    gone = decided(deployment(), healthy(1), memory=after, now=5)
    assert gone.counts is not None
    assert gone.counts.warming == 0


@pytest.mark.parametrize(("outcome", "asked"), [(Outcome.OK, 4), (Outcome.TIMEOUT, 4), (Outcome.REFUSED, 0)])
def test_what_was_asked_is_remembered_unless_it_was_refused(outcome: Outcome, asked: int) -> None:
    memory = drained()
    decision = decided(deployment(), healthy(4), reading(p95=1000), memory)
    after = apply_answer(memory, decision, outcome, 2.5)
    assert sum(it.count for it in after.asked) == asked
    assert after.last_scale_at == (2.5 if asked else None)
    assert [entry.desired for entry in after.window or ()] == [8]


def test_an_answer_to_a_gated_tick_changes_nothing() -> None:
    memory = drained(last_scale_at=-5, zero_by=ZeroBy.OPERATOR)
    decision = decided(deployment(), None, memory=memory)
    assert apply_answer(memory, decision, Outcome.NOT_SENT, 0) is memory


def test_first_healthy_is_when_it_was_first_seen() -> None:
    memory = ScalerMemory()
    for now, replicas in ((0, []), (5, healthy(1)), (10, healthy(1))):
        decision = decided(deployment(min_replicas=0), replicas, reading(at=now), memory, now)
        memory = apply_answer(memory, decision, Outcome.OK, now)
    assert memory.first_healthy_at == 5


def test_one_of_ours_that_was_told_to_stop_is_not_waited_for_again() -> None:
    memory = drained(asked=(call(-10, 1, "h1"),))
    newcomer = Replica("0-first", healthy=True, created=OLD, last_health_check=0)
    decision = decided(deployment(max_replicas=1), [*healthy(1), newcomer], memory=memory)
    assert decision.stop == ("0-first",)
    after = apply_answer(memory, decision, Outcome.OK, 0)
    assert after.asked == ()
    refused = apply_answer(memory, decision, Outcome.REFUSED, 0)
    assert refused.asked == memory.asked
