"""Bad scenarios are told by their place and what was expected there."""

from typing import Any

import pytest

from scaling.scenarios.fields import BadScenario
from scaling.scenarios.replica_reading import parse_scenario

GOOD: dict[str, Any] = {"deployment": {"id": "d1"}, "replicas": {"healthy": 1}}
TWICE = [{"id": "a"}, {"id": "b"}, {"id": "a"}]


def with_deployment(**changes: object) -> dict[str, object]:
    return {**GOOD, "deployment": changes}


def with_entry(**changes: object) -> dict[str, object]:
    return {**GOOD, "timeline": [{"at": 1, "min_replicas": 1}, changes]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "expected a mapping with deployment and replicas, got a list"),
        ("text", "expected a mapping with deployment and replicas, got 'text'"),
        ({"replicas": []}, "deployment: expected a mapping, and it is missing"),
        ({"deployment": {}}, "replicas: expected counts, a list or error, and it is missing"),
        ({**GOOD, "replica": 1}, "replica: expected replicas, this key is unknown"),
        ({**GOOD, "deployment": None}, "deployment: expected a mapping, got nothing"),
        (with_deployment(min_replica=1), "deployment.min_replica: expected min_replicas, this key is unknown"),
        (with_deployment(id=7), "deployment.id: expected a text, got 7"),
        (with_deployment(min_replicas="two"), "deployment.min_replicas: expected a whole number, got 'two'"),
        (with_deployment(min_replicas=1.5), "deployment.min_replicas: expected a whole number, got 1.5"),
        (with_deployment(min_replicas=True), "deployment.min_replicas: expected a whole number, got True"),
        (with_deployment(max_replicas=-1), "deployment.max_replicas: expected a whole number of at least 0, got -1"),
        (with_deployment(max_replicas=None), "deployment.max_replicas: expected a whole number, got nothing"),
        (with_deployment(target_rps=-1), "deployment.target_rps: expected a number of at least 0, got -1"),
        (with_deployment(target_rps=float("nan")), "deployment.target_rps: expected a number, got nan"),
        (with_deployment(cooldown="2m"), "deployment.cooldown: expected a number, got '2m'"),
        (with_deployment(tolerance=-0.1), "deployment.tolerance: expected a number of at least 0, got -0.1"),
        (with_deployment(paused="yes"), "deployment.paused: expected true, false or a mapping with until and"),
        (with_deployment(paused={"for": 1}), "deployment.paused.for: expected one of until, direction"),
        (with_deployment(paused={"direction": "left"}), "deployment.paused.direction: expected one of both, up, down"),
        (with_deployment(zero_by="cat"), "deployment.zero_by: expected one of operator, lifecycle, got 'cat'"),
        (
            with_deployment(stabilization_window=1, stabilisation_window=2),
            "deployment.stabilisation_window: expected one spelling of this key, both are there",
        ),
        ({**GOOD, "replicas": "broken"}, "replicas: expected counts, a list or error, got 'broken'"),
        ({**GOOD, "replicas": None}, "replicas: expected counts, a list or error, got nothing"),
        ({**GOOD, "replicas": {"healty": 1}}, "replicas.healty: expected healthy, this key is unknown"),
        ({**GOOD, "replicas": {"healthy": -1}}, "replicas.healthy: expected a whole number of at least 0, got -1"),
        ({**GOOD, "replicas": {"failed": 1e9}}, "replicas.failed: expected a whole number of at most 10000"),
        ({**GOOD, "replicas": ["a"]}, "replicas[0]: expected a mapping with an id, got 'a'"),
        ({**GOOD, "replicas": [{"healthy": True}]}, "replicas[0].id: expected a text, and it is missing"),
        ({**GOOD, "replicas": TWICE}, "replicas[2].id: expected an id that is not there twice, got 'a'"),
        ({**GOOD, "replicas": [{"id": "a", "healthy": "yes"}]}, "replicas[0].healthy: expected true or false"),
        ({**GOOD, "replicas": [{"id": "a", "created": "old"}]}, "replicas[0].created: expected a number, got 'old'"),
        ({**GOOD, "metrics": 5}, "metrics: expected a mapping with p95_latency_ms and rps, got 5"),
        ({**GOOD, "metrics": {"p95": 5}}, "metrics.p95: expected one of p95_latency_ms, rps"),
        ({**GOOD, "metrics": {"rps": "many"}}, "metrics.rps: expected a number, .nan, .inf, null or error"),
        ({**GOOD, "metrics": {"rps": True}}, "metrics.rps: expected a number, .nan, .inf, null or error, got True"),
        ({**GOOD, "metrics": {"age": float("inf")}}, "metrics.age: expected a number, got inf"),
        ({**GOOD, "metrics": {"warnings": "partial"}}, "metrics.warnings: expected true or false"),
        ({**GOOD, "metrics": {"series": -1}}, "metrics.series: expected a whole number of at least 0"),
        ({**GOOD, "window": {"at": 1}}, "window: expected a list, got a mapping"),
        ({**GOOD, "window": [{"at": 1}]}, "window[0].desired: expected a whole number, and it is missing"),
        ({**GOOD, "window": [{"at": 1, "desired": "x"}]}, "window[0].desired: expected a whole number, got 'x'"),
        ({**GOOD, "lease": "mine"}, "lease: expected one of held, lost, got 'mine'"),
        ({**GOOD, "ticks": 0}, "ticks: expected a whole number of at least 1, got 0"),
        ({**GOOD, "ticks": 10**9}, "ticks: expected a whole number of at most 100000"),
        ({**GOOD, "every": 0}, "every: expected a number above 0, got 0"),
        ({**GOOD, "warmup_seconds": -1}, "warmup_seconds: expected a number of at least 0, got -1"),
        ({**GOOD, "now": "today"}, "now: expected a number, got 'today'"),
        ({**GOOD, "timeline": {}}, "timeline: expected a list, got a mapping"),
        (with_entry(min_replicas=1), "timeline[1].at: expected a number, and it is missing"),
        (with_entry(at=1), "timeline[1]: expected something that changes beside at and for"),
        (with_entry(at=1, id="x"), "timeline[1].id: expected one of"),
        (with_entry(at=1, gateway="slow"), "timeline[1].gateway: expected one of ok, error, timeout, got 'slow'"),
        (with_entry(at=1, prometheus=True), "timeline[1].prometheus: expected one of down, up, got True"),
        (with_entry(**{"at": 1, "for": 0, "lease": "lost"}), "timeline[1].for: expected a number above 0, got 0"),
        (with_entry(at=1, replicas=TWICE), "timeline[1].replicas[2].id: expected an id that is not there twice"),
        (with_entry(at=1, metrics={"rps": []}), "timeline[1].metrics.rps: expected a number, .nan, .inf, null or"),
    ],
)
def test_a_bad_scenario_names_the_place_and_what_was_expected(content: object, message: str) -> None:
    with pytest.raises(BadScenario) as caught:
        parse_scenario(content)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_long_or_many_lined_value_is_told_short_and_on_one_line() -> None:
    with pytest.raises(BadScenario) as caught:
        parse_scenario(with_deployment(cooldown="x\n" * 500))
    assert len(str(caught.value)) < 140
    assert "\n" not in str(caught.value)


def test_left_out_keys_have_their_defaults() -> None:
    scenario = parse_scenario(GOOD)
    assert (scenario.now, scenario.every, scenario.ticks, scenario.warmup_seconds) == (0, 5, 1, 60)
    assert scenario.lease_held
    assert scenario.window is None
    assert scenario.settings == {"min_replicas": 1, "max_replicas": 10, "id": "d1"}


def test_null_means_left_out_where_the_format_says_so() -> None:
    empty = {"target_latency_p95_ms": None, "scale_up_limit": None, "last_scale_at": None, "zero_by": None}
    scenario = parse_scenario({**GOOD, "deployment": empty, "window": None, "timeline": None})
    assert scenario.window is None
    assert scenario.memory == {"last_scale_at": None, "zero_by": None}


def test_a_whole_number_may_be_written_with_a_point() -> None:
    assert parse_scenario(with_deployment(min_replicas=2.0)).settings["min_replicas"] == 2
