"""Every state of a deployment has a word of its own, and each is found where it applies."""

from datetime import datetime

import pytest

from iris_web.pages import states
from iris_web.pages.deployment_briefs import doing_of, read
from iris_web.pages.deployment_states import (
    CODES,
    CONDITIONS,
    DEPLOYMENT,
    HELD_BY_GATE,
    OUTCOME,
    REPLICA,
    code_of,
    held_by,
)
from iris_web.pages.deployment_words import CAME_BACK, LIMITS, STEPS
from scaling.models import Deployment
from scaling.replicas.decision import Gate, LimitCode, Outcome, Step
from scaling.replicas.replica import ReplicaClass
from scaling.testing import sample_deployments as sample


def test_every_code_of_the_decision_has_its_words() -> None:
    assert set(HELD_BY_GATE) == set(Gate)
    assert set(LIMITS) == set(LimitCode)
    assert set(STEPS) == set(Step)
    assert set(CAME_BACK) == set(OUTCOME) == set(Outcome)
    assert set(REPLICA) == set(ReplicaClass)


def test_every_state_that_can_be_has_a_look() -> None:
    assert {code for code, _ in CODES} | {"steady"} == set(DEPLOYMENT)
    assert states.KINDS["deployment"] is DEPLOYMENT


@pytest.mark.django_db
def test_the_fleet_shows_each_state_once_and_the_list_agrees_with_the_page(now: datetime) -> None:
    sample.fleet(now)
    rows = {row.pk: row for row in Deployment.objects.select_related("scaler")}
    codes = {}
    for brief in read(now):
        row = rows[brief.pk]
        assert brief.doing == doing_of(row, now)
        codes[brief.deployment_id] = code_of(brief.doing)
    expected = {
        "chat-large": "up", "chat-small": "up", "code-complete": "window", "draft-model": "status_gate",
        "embed-en": "down", "embed-multi": "metrics_unavailable", "held-at-zero": "held_zero",
        "left-over": "unassigned",
        "moderation": "steady", "not-listed": "not_listed", "paused-both": "paused", "paused-down": "paused_down",
        "rerank": "over", "summarise": "steady", "translate": "zero", "vision": "steady",
        "whisper": "fleet_unknown",
    }  # fmt: skip
    assert {name: code for name, code in codes.items() if not name.startswith("model-")} == expected
    assert held_by(doing_of(rows[next(pk for pk, row in rows.items() if row.deployment_id == "rerank")], now)) == (
        "at its maximum"
    )


@pytest.mark.django_db
def test_an_operators_tolerance_and_targets_count_before_the_gateways(now: datetime) -> None:
    row = sample.make_deployment("chat", now, tolerance=0.5, overrides={"tolerance": 0.05, "target_rps": 0})
    sample.tick(row, now, sample.Scene(p95=545))
    (brief,) = read(now)
    assert brief.doing.tolerance == 0.05 and CONDITIONS["over"][1](brief.doing)
    Deployment.objects.update(overrides={"target_latency_p95_ms": 0, "target_rps": 0})
    (brief,) = read(now)
    assert not brief.doing.targeted


@pytest.mark.django_db
def test_a_tick_without_gate_and_limiter_is_the_same_in_either_spelling(now: datetime) -> None:
    row = sample.make_deployment("chat", now)
    sample.tick(row, now, sample.Scene(healthy=6, p95=180, rps=12, window=((290, 3),)))
    row.scaler.latest |= {"gate": "", "bound": "one_per_tick"}
    row.scaler.save()
    (brief,) = read(now)
    assert code_of(brief.doing) == "down" and not CONDITIONS["held"][1](brief.doing)
