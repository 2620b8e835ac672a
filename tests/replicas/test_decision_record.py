"""Section 4: every tick explains itself, and what is worth storing."""

import json

import pytest

from scaling.replicas.answer import apply_answer
from scaling.replicas.decision import Decision, LimitCode, Outcome, Step
from scaling.replicas.deployment import Pause, PauseDirection
from scaling.replicas.memory import Asked, ScalerMemory, ZeroBy
from scaling.replicas.replica import Replica
from scaling.replicas.stored import decision_to_mapping, memory_from_mapping, memory_to_mapping
from scaling.replicas.window import WindowEntry
from tests.replicas.support import NAN, decided, deployment, drained, healthy, reading

WARMING = [Replica(f"w{n}", "pending", created=-1) for n in range(3)]
ILL = [Replica(f"u{n}", created=-9000.0 + n, last_health_check=-1) for n in range(3)]


def limit(decision: Decision, code: LimitCode) -> tuple[int, int]:
    return next((it.before, it.after) for it in decision.limits if it.code is code)


def test_every_limiter_is_there_in_order_with_the_value_before_and_after() -> None:
    decision = decided(deployment(max_replicas=6, scale_up_limit=1), [*healthy(3), *WARMING[:1]], reading(2000))
    assert [it.code for it in decision.limits] == [
        LimitCode.TOLERANCE,
        LimitCode.MISSING_DATA,
        LimitCode.MIN_REPLICAS,
        LimitCode.MAX_REPLICAS,
        LimitCode.LAST_REPLICA,
        LimitCode.ZERO,
        LimitCode.WAKE,
        LimitCode.LIFECYCLE,
        LimitCode.OPERATOR_ZERO,
        LimitCode.PAUSED_UP,
        LimitCode.PAUSED_DOWN,
        LimitCode.WINDOW,
        LimitCode.COMING,
        LimitCode.SURGE_CAP,
        LimitCode.SCALE_UP_LIMIT,
        LimitCode.ONE_PER_TICK,
        LimitCode.COOLDOWN,
    ]
    assert limit(decision, LimitCode.MAX_REPLICAS) == (12, 6)
    assert limit(decision, LimitCode.COMING) == (3, 2)
    assert limit(decision, LimitCode.SCALE_UP_LIMIT) == (2, 1)
    assert (decision.bound, decision.add) == (LimitCode.SCALE_UP_LIMIT, 1)


def test_a_health_first_step_shows_what_the_load_wanted() -> None:
    decision = decided(deployment(min_replicas=3), healthy(2), reading(1500))
    assert (decision.step, decision.bound) == (Step.FLOOR, LimitCode.HEALTH_FIRST)
    assert limit(decision, LimitCode.HEALTH_FIRST) == (4, 1)


@pytest.mark.parametrize(
    ("settings", "replicas", "p95", "memory", "bound"),
    [
        ({}, healthy(4), 520, {}, LimitCode.TOLERANCE),
        ({"target_rps": 99}, healthy(4), None, {}, LimitCode.MISSING_DATA),
        ({}, healthy(4), 100, {"window": (WindowEntry(-1, 4),)}, LimitCode.WINDOW),
        ({"max_replicas": 4}, healthy(4), 900, {}, LimitCode.MAX_REPLICAS),
        ({"min_replicas": 4}, healthy(4), 100, {}, LimitCode.MIN_REPLICAS),
        ({}, [*healthy(2), *WARMING], 900, {}, LimitCode.COMING),
        ({"min_replicas": 2, "max_replicas": 4}, [*healthy(2), *ILL], 900, {}, LimitCode.SURGE_CAP),
        ({"scale_up_limit": 0}, healthy(2), 900, {}, LimitCode.SCALE_UP_LIMIT),
        ({}, healthy(2), 900, {"last_scale_at": -1}, LimitCode.COOLDOWN),
        ({}, healthy(2), 900, {"zero_by": ZeroBy.OPERATOR}, LimitCode.OPERATOR_ZERO),
        ({"pause": Pause(direction=PauseDirection.UP)}, healthy(2), 900, {}, LimitCode.PAUSED_UP),
        ({"pause": Pause(direction=PauseDirection.DOWN)}, healthy(2), 100, {}, LimitCode.PAUSED_DOWN),
        ({"min_replicas": 0}, healthy(1), 0, {}, LimitCode.LAST_REPLICA),
    ],
)
def test_the_binding_limiter_is_named_and_has_a_sentence(
    settings: dict[str, object],
    replicas: list[Replica],
    p95: float | None,
    memory: dict[str, object],
    bound: LimitCode,
) -> None:
    decision = decided(deployment(**settings), replicas, reading(p95, 20), drained(**memory))
    assert decision.bound is bound
    assert not decision.sent
    assert decision.reason.endswith(".")
    assert len(decision.reason.split()) > 5


def test_the_reason_counts_what_is_cleared_away() -> None:
    replicas = [*healthy(4), *ILL, Replica("f", "failed")]
    assert "2 replicas that failed or are unhealthy" in decided(deployment(), replicas, reading(500)).reason
    assert "1 replica that failed or is unhealthy" in decided(deployment(), replicas[:5], reading(500)).reason


@pytest.mark.parametrize(
    ("settings", "replicas", "metrics", "words"),
    [
        ({"min_replicas": 2}, [], reading(), "no replica: 2 replicas are added"),
        ({"min_replicas": 2}, healthy(1), reading(), "below the minimum of 2: 1 replica is added"),
        ({"max_replicas": 2}, healthy(3), reading(), "above the maximum of 2"),
        ({"min_replicas": 0}, [], reading(), "A request came"),
        ({}, healthy(2), reading(1000), "2 times its target, 4 are desired: 2 replicas are added"),
        ({}, healthy(2), reading(100), "1 replica is removed"),
        ({"target_latency_p95_ms": 0}, healthy(2), reading(), "No target is configured"),
        ({}, healthy(2), reading(NAN, 0), "Nothing to scale by"),
        ({"min_replicas": 0, "last_request_at": -4000}, healthy(1), reading(NAN, 0), "the last replica"),
    ],
)
def test_the_reason_says_what_is_done(
    settings: dict[str, object], replicas: list[Replica], metrics: object, words: str
) -> None:
    assert words in decided(deployment(**settings), replicas, metrics).reason  # type: ignore[arg-type]


def test_samples_alone_are_no_news() -> None:
    first = decided(deployment(), healthy(4), reading(500, 20))
    for wavering in (455, 490, 510, 549):
        assert first.news == decided(deployment(), healthy(4), reading(wavering, 21), now=1).news
    assert first.news != decided(deployment(), healthy(4), reading(900, 20)).news
    assert first.news != decided(deployment(), healthy(4), reading(None, 20)).news
    assert first.news != decided(deployment(), [*healthy(4), Replica("f", "failed")], reading()).news


def test_a_decision_is_stored_as_plain_json_even_with_nan() -> None:
    decision = decided(deployment(target_rps=10), [*healthy(2), Replica("f", "failed")], reading(NAN, 0))
    stored = json.loads(json.dumps(decision_to_mapping(decision), allow_nan=False))
    assert stored["inputs"]["p95"]["value"] == "NaN"
    assert stored["proposals"][0]["standing"] == "idle"
    assert stored["proposals"][1]["ratio"] == 0
    assert stored["limits"][0] == {"code": "tolerance", "before": 0, "after": 0}
    assert (stored["step"], stored["outcome"], stored["stop"]) == ("load", "not_sent", ["f", "h1"])
    gated = decision_to_mapping(decided(deployment(status="stopped"), None))
    assert (gated["counts"], gated["proposals"], gated["gate"]) == (None, None, "status_gate")


@pytest.mark.parametrize(("value", "word"), [(float("inf"), "+Inf"), (float("-inf"), "-Inf")])
def test_infinities_are_stored_as_words(value: float, word: str) -> None:
    stored = decision_to_mapping(decided(deployment(), healthy(1), reading(value)))
    assert stored["inputs"]["p95"]["value"] == word


@pytest.mark.parametrize(
    "memory",
    [
        ScalerMemory(),
        ScalerMemory(window=()),
        ScalerMemory(
            last_scale_at=1.5,
            window=(WindowEntry(1, 5), WindowEntry(2, 3)),
            asked=(Asked(2, 3, frozenset({"a", "b"})),),
            zero_by=ZeroBy.LIFECYCLE,
            first_healthy_at=-9,
            metrics_missing_since=1,
        ),
    ],
)
def test_a_memory_survives_being_stored(memory: ScalerMemory) -> None:
    assert memory_from_mapping(json.loads(json.dumps(memory_to_mapping(memory)))) == memory


def test_a_memory_of_an_older_form_reads_as_unknown() -> None:
    assert memory_from_mapping({}) == ScalerMemory()


def test_a_restart_between_any_two_ticks_changes_no_decision() -> None:
    settings = deployment(cooldown_seconds=20, stabilization_window_seconds=40)
    kept = stored = ScalerMemory()
    for tick in range(60):
        now = 5.0 * tick
        replicas = [Replica(f"h{n}", healthy=True, created=-9000, last_health_check=now) for n in range(5)]
        metrics = reading(900 if tick % 7 < 2 else 100, at=now)
        decision = decided(settings, replicas, metrics, kept, now)
        again = decided(settings, replicas, metrics, memory_from_mapping(memory_to_mapping(stored)), now)
        assert (again.news, again.window_max, again.reason) == (decision.news, decision.window_max, decision.reason)
        kept = apply_answer(kept, decision, Outcome.OK, now)
        stored = apply_answer(memory_from_mapping(memory_to_mapping(stored)), again, Outcome.OK, now)
