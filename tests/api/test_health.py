"""`/healthz` and `/readyz`."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from iris_web import health
from scaling.clock import FrozenClock
from scaling.models import Cycle, Loop
from scaling.testing.builders import make_cycle, make_loop

pytestmark = pytest.mark.django_db


def _ready() -> tuple[int, Any]:
    answer = Client().get("/readyz")
    return answer.status_code, answer.json().get("reason")


def test_a_process_that_answers_is_healthy_even_without_a_cycle() -> None:
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert "no-store" in answer["Cache-Control"]


def test_without_a_cycle_it_is_not_ready(frozen_clock: FrozenClock) -> None:
    assert _ready() == (503, "no cycle has run yet")


@pytest.mark.parametrize(("age", "status"), [(0, 200), (29, 200), (30, 503), (3600, 503)])
def test_ready_is_a_cycle_younger_than_three_periods(frozen_clock: FrozenClock, age: float, status: int) -> None:
    make_cycle(frozen_clock() - timedelta(seconds=age))
    assert _ready()[0] == status


def test_the_reason_names_ages_and_no_data(frozen_clock: FrozenClock) -> None:
    make_cycle(frozen_clock() - timedelta(seconds=45), "aborted", "gcp: secret trouble")
    assert _ready() == (503, "the last cycle began 45 s ago; expected less than 30 s")


def test_an_aborted_cycle_is_a_sign_of_life(frozen_clock: FrozenClock) -> None:
    make_cycle(frozen_clock(), "aborted", "503 from the API")
    assert _ready()[0] == 200


def test_a_period_from_a_cluster_file_counts(frozen_clock: FrozenClock) -> None:
    make_loop("autoscaler", frozen_clock(), period=60)
    make_cycle(frozen_clock() - timedelta(seconds=170))
    assert _ready()[0] == 200
    Loop.objects.update(period_seconds=50)
    assert _ready()[0] == 503


def test_a_database_that_does_not_answer_is_said_without_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: Any) -> None:
        raise OperationalError("password of host 10.0.0.1")

    monkeypatch.setattr(Cycle.objects, "order_by", fail)
    assert _ready() == (503, "the database does not answer")
    assert Client().get("/healthz").status_code == 200


def test_a_change_of_readiness_is_logged_once(
    frozen_clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(health, "_was_ready", True)
    caplog.set_level("INFO")
    for _ in range(3):
        _ready()
    make_cycle(frozen_clock())
    for _ in range(3):
        _ready()
    told = [record for record in caplog.records if record.name in ("iris_web.health", "django.request")]
    assert [(record.message, getattr(record, "ready", None)) for record in told] == [
        ("readiness changed", False),
        ("readiness changed", True),
    ]


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_is_only_read(path: str) -> None:
    assert Client().post(path).status_code == 405
    assert Client().head(path).status_code in (200, 503)


def test_the_period_is_the_settings_without_a_loop(settings: Any) -> None:
    settings.IRIS_CYCLE_SECONDS = 7
    assert health.cycle_period_seconds() == 7
