"""The charts of a deployment: from Prometheus where it answers, else from the ticks; a gap is a gap, never zero."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from iris_web.pages.deployment_charts import RANGES
from scaling.clock import FrozenClock
from scaling.deployment_history import Origin, read_history
from scaling.grid import Grid
from scaling.history import Actor
from scaling.models import Deployment, DeploymentSample
from scaling.operations import edit_deployment, forget_absent_deployments
from scaling.sources import configured
from scaling.sources.prometheus import MetricsHistory
from scaling.testing.sample_deployments import make_deployment

pytestmark = pytest.mark.django_db
SignIn = Callable[[str], Client]
PATH = "/deployments/chat/series"


class Prometheus:
    """Stands in for the client: answers with `told`, remembers what it was asked."""

    def __init__(self, told: MetricsHistory) -> None:
        self.told = told
        self.asked: list[tuple[Any, ...]] = []

    def history(self, *asked: Any) -> MetricsHistory:
        self.asked.append(asked)
        return self.told


@pytest.fixture
def chat(now: datetime) -> Deployment:
    return make_deployment("chat", now)


@pytest.fixture
def prometheus(gateway: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Prometheus]:
    made = Prometheus(MetricsHistory((), (), "", ()))
    monkeypatch.setattr(configured, "prometheus", lambda: made)
    yield made


def sample(row: Deployment, at: datetime, **fields: Any) -> None:
    values = {"p95_ms": 400.0, "rps": 30.0, "healthy": 3, "warming": 1, "desired": 4} | fields
    DeploymentSample.objects.create(deployment=row, at=at, **values)


def values(told: dict[str, Any], chart: str, label: str) -> list[float | None]:
    lines = told["charts"][chart]["series"]
    return next(line["values"] for line in lines if line["label"] == label)


def fetch(sign_in: SignIn, query: str = "") -> dict[str, Any]:
    answer = sign_in("viewer").get(PATH + query)
    assert answer.status_code == 200
    told: dict[str, Any] = answer.json()
    return told


def test_the_load_comes_from_prometheus_and_the_replicas_from_the_ticks(
    chat: Deployment, now: datetime, prometheus: Prometheus, sign_in: SignIn
) -> None:
    at = now.timestamp()
    prometheus.told = MetricsHistory(((at - 30, 500.0), (at - 15, None), (at, 620.0)), ((at, 41.0),), "", ())
    sample(chat, now - timedelta(seconds=15))
    told = fetch(sign_in)
    assert (told["note"], told["away"]) == ("", False)
    assert values(told, "latency", "p95")[-3:] == [500, None, 620]
    assert values(told, "rps", "requests")[-2:] == [None, 41]
    assert values(told, "replicas", "healthy")[-2:] == [3, 3]
    assert values(told, "replicas", "desired")[-1] == 4
    (asked,) = prometheus.asked
    assert asked[0] == "chat" and asked[3] == 15 and asked[2] - asked[1] == 900 - 15


def test_targets_and_limits_are_lines(chat: Deployment, now: datetime, sign_in: SignIn) -> None:
    sample(chat, now)
    told = fetch(sign_in)
    assert set(values(told, "latency", "target")) == {500}
    assert set(values(told, "replicas", "min")) == {1} and set(values(told, "replicas", "max")) == {10}
    assert values(told, "rps", "target of all healthy")[-1] == 30


def test_without_targets_there_are_no_such_lines(now: datetime, sign_in: SignIn) -> None:
    make_deployment("chat", now, target_latency_p95_ms=None, target_rps=0)
    told = fetch(sign_in)
    assert [len(told["charts"][name]["series"]) for name in ("latency", "rps")] == [1, 1]


def test_when_prometheus_is_away_the_ticks_stand_in_and_that_is_said(
    chat: Deployment, now: datetime, prometheus: Prometheus, sign_in: SignIn
) -> None:
    prometheus.told = MetricsHistory((), (), "connection refused", ())
    sample(chat, now)
    told = fetch(sign_in)
    assert told["away"] is True
    assert told["note"] == (
        "Prometheus does not answer (connection refused). Drawn from what Iris saw at its own ticks."
    )
    assert values(told, "latency", "p95")[-1] == 400


def test_warnings_of_prometheus_are_told(chat: Deployment, prometheus: Prometheus, sign_in: SignIn) -> None:
    prometheus.told = MetricsHistory((), (), "", ("samples were left out",))
    assert fetch(sign_in)["note"] == "samples were left out"


def test_a_gap_is_a_gap_and_never_zero(chat: Deployment, now: datetime, sign_in: SignIn) -> None:
    sample(chat, now - timedelta(seconds=600), p95_ms=None, rps=0)
    sample(chat, now)
    told = fetch(sign_in, "?range=15m")
    p95, rps = values(told, "latency", "p95"), values(told, "rps", "requests")
    assert p95[:-1] == [None] * (len(p95) - 1) and p95[-1] == 400
    assert [value for value in rps if value is not None] == [0, 0, 0, 0, 0, 30], (
        "it stands for 75 s, then it is unknown"
    )


@pytest.mark.parametrize("chosen", RANGES.all, ids=lambda chosen: chosen.code)
def test_each_range_has_its_grid(chat: Deployment, now: datetime, sign_in: SignIn, chosen: Any) -> None:
    sample(chat, now)
    told = fetch(sign_in, f"?range={chosen.code}")
    steps = {round(b - a, 6) for a, b in zip(told["x"], told["x"][1:], strict=False)}
    assert steps == {chosen.step_seconds} and len(told["x"]) == chosen.span_seconds / chosen.step_seconds
    assert told["x"][-1] <= now.timestamp() < told["x"][-1] + chosen.step_seconds
    assert all(len(line["values"]) == len(told["x"]) for chart in told["charts"].values() for line in chart["series"])


def test_of_many_samples_in_a_step_the_latest_is_drawn(chat: Deployment, now: datetime) -> None:
    for second in range(0, 60, 15):
        sample(chat, now - timedelta(minutes=1) + timedelta(seconds=second), rps=float(second))
    history = read_history(chat, Grid.until(now.timestamp(), 600, 60))
    assert (history.origin, history.rps[-2]) == (Origin.TICKS, 45)


def test_a_range_that_is_none_is_refused_in_a_sentence(chat: Deployment, sign_in: SignIn) -> None:
    answer = sign_in("viewer").get(f"{PATH}?range=2h")
    assert answer.status_code == 400
    assert "expected one of 15m, 1h, 6h, 24h, 7d" in answer.json()["problem"]


def test_who_may_not_see_the_page_gets_no_points(chat: Deployment, sign_in: SignIn) -> None:
    assert Client().get(PATH).status_code == 302
    assert sign_in("outsider").get(PATH).status_code == 403
    assert sign_in("viewer").post(PATH).status_code == 405
    assert sign_in("viewer").get("/deployments/other/series").status_code == 404


def test_each_chart_says_the_same_in_a_sentence(chat: Deployment, now: datetime, sign_in: SignIn) -> None:
    for minutes, p95 in ((3, 400.0), (2, 600.0), (1, None)):
        sample(chat, now - timedelta(minutes=minutes), p95_ms=p95)
    told = fetch(sign_in)["charts"]
    assert re.fullmatch(
        r"p95 latency in the last 15 minutes: from 400 to 600 ms, the latest unknown, over its target "
        r"\(now 500 ms\) for 50 % of the time, unknown for 87 %\.",
        told["latency"]["summary"],
    )
    assert "from 3 to 3" in told["replicas"]["summary"]
    assert "The minimum is 1 and the maximum 10 now." in told["replicas"]["summary"]


def test_with_nothing_known_that_is_what_it_says(chat: Deployment, sign_in: SignIn) -> None:
    told = fetch(sign_in)["charts"]
    assert told["latency"]["summary"] == "p95 latency: nothing is known in the last 15 minutes."


def test_points_off_the_grid_are_left_out() -> None:
    grid = Grid.until(1000, 60, 10)
    assert (grid.start, grid.end, grid.count) == (950, 1000, 6)
    points = [(900.0, 1.0), (950, 2.0), (969.9, 3.0), (1000, float("nan")), (1011, 4.0)]
    assert grid.place(points) == [2, 3, None, None, None, None]
    assert grid.place([(930.0, 1.0), (980, 2.0)], stands=3) == [1, None, None, 2, 2, 2]


def test_each_moment_stands_beside_the_target_and_the_limits_that_were_in_force_then(
    chat: Deployment, now: datetime, sign_in: SignIn, frozen_clock: FrozenClock, actor: Actor
) -> None:
    frozen_clock.set(now - timedelta(minutes=10))
    edit_deployment(actor, "chat", chat.version, {"target_latency_p95_ms": 300, "max_replicas": 4})
    frozen_clock.set(now - timedelta(minutes=5))
    edit_deployment(actor, "chat", chat.version + 1, {"target_latency_p95_ms": 0})
    make_deployment("other", now)
    edit_deployment(actor, "other", 1, {"target_latency_p95_ms": 77, "max_replicas": 1})
    frozen_clock.set(now)
    for minutes in (12, 8, 2):
        sample(chat, now - timedelta(minutes=minutes), p95_ms=400.0)
    told = fetch(sign_in)
    after = {minutes: told["x"].index((now - timedelta(minutes=minutes)).timestamp()) for minutes in (12, 8, 2)}
    targets, highest = values(told, "latency", "target"), values(told, "replicas", "max")
    assert [targets[after[minutes]] for minutes in (12, 8, 2)] == [500, 300, None]
    assert [highest[after[minutes]] for minutes in (12, 8, 2)] == [10, 4, 4]
    assert "over its target for 50 % of the time that it had one" in told["charts"]["latency"]["summary"]
    assert "the maximum 4 now" in told["charts"]["replicas"]["summary"]


def test_what_was_forgotten_with_a_deployment_was_in_force_until_then(
    chat: Deployment, now: datetime, sign_in: SignIn, frozen_clock: FrozenClock, actor: Actor
) -> None:
    frozen_clock.set(now - timedelta(minutes=12))
    edit_deployment(actor, "chat", chat.version, {"max_replicas": 4})
    frozen_clock.set(now - timedelta(seconds=310))
    Deployment.objects.update(absent_since=now - timedelta(minutes=8))
    forget_absent_deployments(actor)
    Deployment.objects.update(gone_at=None, absent_since=None)
    frozen_clock.set(now)
    told = fetch(sign_in)
    highest = dict(zip(told["x"], values(told, "replicas", "max"), strict=True))
    at = {minutes: highest[(now - timedelta(minutes=minutes)).timestamp()] for minutes in (14, 10, 6, 2)}
    assert at == {14: 10, 10: 4, 6: 4, 2: 10}


def test_an_edit_between_two_points_counts_for_the_point_before_it(
    chat: Deployment, now: datetime, sign_in: SignIn, frozen_clock: FrozenClock, actor: Actor
) -> None:
    frozen_clock.set(now - timedelta(seconds=300 - 7))
    edit_deployment(actor, "chat", chat.version, {"max_replicas": 4})
    frozen_clock.set(now)
    told = fetch(sign_in)
    assert told["step"] == 15
    highest = dict(zip(told["x"], values(told, "replicas", "max"), strict=True))
    at = now.timestamp() - 300
    assert (highest[at - 15], highest[at], highest[at + 15]) == (10, 4, 4)
