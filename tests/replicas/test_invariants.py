"""What holds in every tick, whatever the fleet, the load, the settings and the Gateway do."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from scaling.replicas.answer import apply_answer
from scaling.replicas.decide import decide
from scaling.replicas.decision import Decision, Gate, Outcome, Step
from scaling.replicas.deployment import Deployment, Pause, PauseDirection
from scaling.replicas.fleet import FleetCheck
from scaling.replicas.memory import Asked, ScalerMemory, ZeroBy
from scaling.replicas.metrics import MetricSample, MetricsReading
from scaling.replicas.replica import Replica, muster
from scaling.replicas.window import WindowEntry
from scaling.scenarios.replica_reading import parse_scenario
from scaling.scenarios.replica_runner import run_scenario

times = st.integers(-8000, 100).map(float)
maybe_times = st.none() | times
statuses = st.sampled_from(["running"] * 6 + ["pending", "failed", "crashed", "stopping"])
values = st.none() | st.floats(0, 5000) | st.sampled_from([float("nan"), float("inf"), -1.0, 0.0])

deployments = st.builds(
    Deployment,
    id=st.just("d"),
    min_replicas=st.integers(0, 6),
    max_replicas=st.integers(0, 9),
    status=st.sampled_from(["running"] * 9 + ["stopped"]),
    target_latency_p95_ms=st.sampled_from([None, 0, 100, 500]),
    target_rps=st.sampled_from([None, 0, 5, 50]),
    stabilization_window_seconds=st.sampled_from([0, 30, 300]),
    cooldown_seconds=st.sampled_from([0, 120]),
    tolerance=st.sampled_from([0, 0.1]),
    scale_up_limit=st.none() | st.integers(0, 4),
    pause=st.none() | st.builds(Pause, until=maybe_times, direction=st.sampled_from(PauseDirection)),
    last_request_at=maybe_times,
)
replicas = st.lists(
    st.builds(
        Replica,
        id=st.integers(0, 99).map("r{}".format),
        status=statuses,
        healthy=st.booleans(),
        created=maybe_times,
        last_health_check=st.none() | st.integers(-90, 5).map(float),
        was_healthy=st.booleans(),
    ),
    max_size=14,
    unique_by=lambda replica: replica.id,
)
samples = st.builds(
    MetricSample,
    value=values,
    at=st.sampled_from([0.0, -5.0, -70.0]),
    series=st.sampled_from([1, 1, 1, 2]),
    error=st.sampled_from(["", "", "", "503"]),
    warnings=st.sampled_from([(), (), ("partial",)]),
)
readings = st.builds(MetricsReading, p95=samples, rps=samples, prometheus_down=st.booleans())
entries = st.builds(WindowEntry, at=st.integers(-400, 0).map(float), desired=st.integers(0, 9))
calls = st.builds(Asked, at=times, count=st.integers(1, 4), known=st.just(frozenset[str]()))
memories = st.builds(
    ScalerMemory,
    last_scale_at=maybe_times,
    window=st.none() | st.lists(entries, max_size=5).map(tuple),
    asked=st.lists(calls, max_size=2).map(tuple),
    zero_by=st.none() | st.sampled_from(ZeroBy),
    first_healthy_at=maybe_times,
)
cases = st.tuples(deployments, replicas, readings, memories)
Case = tuple[Deployment, list[Replica], MetricsReading, ScalerMemory]


def decide_case(case: Case) -> Decision:
    settings, listed, reading, memory = case
    return decide(settings, listed, reading, memory, 0.0)


def with_class(case: Case, decision: Decision, ids: Callable[[Any], tuple[str, ...]]) -> list[str]:
    """The stopped replicas of one class."""
    settings, listed, _, _ = case
    return [name for name in decision.stop if name in ids(muster(listed, settings, 0.0))]


def floor_of(case: Case) -> int:
    return 0 if case[3].zero_by is ZeroBy.OPERATOR else min(case[0].min_replicas, case[0].max_replicas)


@given(cases)
def test_at_most_one_healthy_and_one_unhealthy_go_and_nothing_else_but_failed_ones(case: Case) -> None:
    decision = decide_case(case)
    healthy = with_class(case, decision, lambda roster: roster.healthy)
    unhealthy = with_class(case, decision, lambda roster: roster.unhealthy)
    failed = with_class(case, decision, lambda roster: roster.failed)
    assert len(healthy) <= 1
    assert len(unhealthy) <= 1
    assert list(decision.stop) == [*failed, *unhealthy, *healthy]
    assert len(set(decision.stop)) == len(decision.stop)


@given(cases)
def test_load_never_takes_the_whole_above_the_maximum_and_one(case: Case) -> None:
    decision = decide_case(case)
    if decision.step is Step.LOAD and decision.add:
        counts = decision.counts
        assert counts is not None
        cleared = len(with_class(case, decision, lambda roster: roster.unhealthy))
        total = counts.healthy + counts.warming + counts.unhealthy - cleared + decision.add
        assert total <= case[0].max_replicas + 1
        assert counts.healthy + counts.warming + decision.add <= case[0].max_replicas


@given(cases)
def test_health_first_adds_stay_within_the_maximum_of_what_serves(case: Case) -> None:
    decision = decide_case(case)
    if decision.add and decision.counts:
        assert decision.counts.healthy + decision.counts.warming + decision.add <= case[0].max_replicas


@given(cases)
def test_its_own_removals_never_go_below_the_floor_and_below_one_only_by_the_zero_rule(case: Case) -> None:
    decision = decide_case(case)
    removed = len(with_class(case, decision, lambda roster: roster.healthy))
    if removed and decision.counts:
        left = decision.counts.healthy - removed
        assert left >= floor_of(case)
        assert left >= 1 or decision.step is Step.ZERO or case[0].max_replicas == 0


@given(cases)
def test_below_the_floor_it_is_filled_exactly_unless_somebody_stops_it(case: Case) -> None:
    decision = decide_case(case)
    if decision.gate in (Gate.PAUSED, Gate.STATUS_GATE) or case[0].paused(PauseDirection.UP, 0.0):
        assert decision.add == 0
        return
    assert decision.counts is not None
    short = floor_of(case) - decision.counts.healthy - decision.counts.warming
    if short > 0:
        assert (decision.add, decision.gate) == (short, None)


@given(cases)
def test_adds_and_healthy_removals_exclude_each_other(case: Case) -> None:
    decision = decide_case(case)
    assert not (decision.add and with_class(case, decision, lambda roster: roster.healthy))
    assert decision.add >= 0


@given(cases)
def test_missing_data_never_lowers(case: Case) -> None:
    """With nothing known, only the ceiling takes a healthy one and no load adds."""
    settings, listed, _, memory = case
    decision = decide(settings, listed, MetricsReading(), memory, 0.0)
    configured = bool(settings.target_latency_p95_ms or settings.target_rps)
    if configured:
        removed = with_class(case, decision, lambda roster: roster.healthy)
        assert not removed or decision.step is Step.CEILING
        assert decision.step not in (Step.LOAD, Step.ZERO)


@given(cases)
def test_losing_one_metric_never_removes_what_would_have_stayed(case: Case) -> None:
    settings, listed, reading, memory = case
    both = decide_case(case)
    for lost in (replace(reading, p95=MetricSample()), replace(reading, prometheus_down=True)):
        fewer = decide(settings, listed, lost, memory, 0.0)
        assert set(fewer.stop) <= set(both.stop) or both.step is not fewer.step
        if settings.target_latency_p95_ms and fewer.step not in (Step.CEILING, Step.NONE):
            assert fewer.step is not Step.ZERO
            assert not with_class(case, fewer, lambda roster: roster.healthy)


@given(cases, st.randoms(use_true_random=False))
def test_the_order_of_the_list_does_not_matter(case: Case, chance: Any) -> None:
    settings, listed, reading, memory = case
    shuffled = list(listed)
    chance.shuffle(shuffled)
    again = decide(settings, shuffled, reading, memory, 0.0)
    first = decide_case(case)
    assert (again.news, again.reason, again.learned) == (first.news, first.reason, first.learned)


@given(cases)
def test_held_at_zero_nothing_is_added_and_gated_nothing_happens(case: Case) -> None:
    settings, listed, reading, memory = case
    held = decide(settings, listed, reading, replace(memory, zero_by=ZeroBy.OPERATOR), 0.0)
    assert held.add == 0
    for decision in (
        decide(settings, None, reading, memory, 0.0),
        decide(settings, listed, reading, memory, 0.0, lease_held=False),
        decide(settings, listed, reading, memory, 0.0, fleet=FleetCheck(10, 6)),
    ):
        assert decision.gate is not None
        assert not decision.sent
        assert apply_answer(memory, decision, Outcome.NOT_SENT, 0.0) is memory


@given(cases, st.sampled_from(Outcome))
def test_only_a_done_load_driven_change_starts_a_cooldown(case: Case, outcome: Outcome) -> None:
    decision = decide_case(case)
    after = apply_answer(case[3], decision, outcome, 0.0)
    starts = decision.sent and decision.load_driven and outcome in (Outcome.OK, Outcome.TIMEOUT)
    assert after.last_scale_at == (0.0 if starts else case[3].last_scale_at)


@given(cases)
def test_every_decision_has_a_sentence_and_a_consistent_record(case: Case) -> None:
    decision = decide_case(case)
    assert decision.reason.endswith(".")
    if decision.learned is None:
        return
    desired_limits, change_limits = decision.limits[:7], decision.limits[7:]
    for chain in (desired_limits, change_limits):
        assert all(one.after == two.before for one, two in pairwise(chain))
    assert desired_limits[-1].after == decision.desired
    assert change_limits[-1].after == decision.add - len(with_class(case, decision, lambda roster: roster.healthy))
    assert decision.window_max == max(entry.desired for entry in decision.learned.window)


loads = st.lists(
    st.fixed_dictionaries(
        {
            "at": st.integers(0, 900),
            "metrics": st.fixed_dictionaries(
                {"p95_latency_ms": st.sampled_from([50, 450, 500, 900, 4000, None]), "rps": st.integers(0, 200)}
            ),
        }
    ),
    max_size=6,
)
troubles = st.lists(
    st.fixed_dictionaries(
        {"at": st.integers(0, 900), "for": st.integers(1, 200)},
        optional={
            "gateway": st.sampled_from(["error", "timeout"]),
            "prometheus": st.just("down"),
            "lease": st.just("lost"),
            "min_replicas": st.integers(0, 4),
            "max_replicas": st.integers(1, 12),
        },
    ).filter(lambda entry: len(entry) > 2),
    max_size=4,
)


@given(
    loads=loads,
    troubles=troubles,
    counts=st.fixed_dictionaries({"healthy": st.integers(0, 9), "unhealthy": st.integers(0, 3)}),
    every=st.sampled_from([10, 15, 30]),
)
@effort(max_examples=40)
def test_a_whole_run_stays_within_its_bounds(
    loads: list[dict[str, Any]], troubles: list[dict[str, Any]], counts: dict[str, int], every: int
) -> None:
    """Load-driven changes are a cooldown apart, and what serves settles within minimum and maximum."""
    settings = {"id": "d", "min_replicas": 1, "max_replicas": 8, "target_latency_p95_ms": 500, "target_rps": 10}
    scenario = {
        "deployment": settings,
        "replicas": counts,
        "metrics": {"p95_latency_ms": 500, "rps": 20},
        "ticks": 1500 // every,
        "every": every,
        "timeline": [*loads, *troubles],
    }
    run = run_scenario(parse_scenario(scenario))
    changes = [it.at for it in run.decisions if it.load_driven and it.outcome in (Outcome.OK, Outcome.TIMEOUT)]
    assert all(later - earlier >= 120 for earlier, later in pairwise(changes))
    assert run.counts is not None
    assert 1 <= run.counts.healthy + run.counts.warming <= 8
    assert run == run_scenario(parse_scenario(scenario))
