"""Every state of a deployment has a word of its own, and each is found where it applies."""

from dataclasses import fields
from datetime import datetime

import pytest

from iris_web.pages import states
from iris_web.pages.deployment_briefs import CONDITIONS, Brief, doing_of, read, that_are
from iris_web.pages.deployment_states import (
    DEPLOYMENT,
    HELD_BY_GATE,
    OUTCOME,
    REPLICA,
    Doing,
    code_of,
    held_by,
)
from iris_web.pages.deployment_words import CAME_BACK, LIMITS, STEPS
from scaling.models import Deployment
from scaling.replicas.decision import Gate, LimitCode, Outcome, Step
from scaling.replicas.picture import State
from scaling.replicas.replica import ReplicaClass
from scaling.testing import sample_deployments as sample


def test_every_code_of_the_decision_has_its_words() -> None:
    assert set(HELD_BY_GATE) == set(Gate)
    assert set(LIMITS) == set(LimitCode)
    assert set(STEPS) == set(Step)
    assert set(CAME_BACK) == set(OUTCOME) == set(Outcome)
    assert set(REPLICA) == set(ReplicaClass)


def test_every_state_that_can_be_has_a_look() -> None:
    ordered = {"not_listed", "unassigned", "paused", "paused_up", "paused_down", "held_zero", "new"}
    assert set(State) | ordered == set(DEPLOYMENT)
    assert states.KINDS["deployment"] is DEPLOYMENT


@pytest.mark.django_db
def test_the_fleet_shows_each_state_once_and_the_list_agrees_with_the_page(now: datetime) -> None:
    sample.fleet(now)
    rows = {row.pk: row for row in Deployment.objects.select_related("scaler")}
    codes = {}
    for brief in read(now):
        doing = doing_of(rows[brief.pk], now)
        codes[brief.deployment_id] = code_of(doing)
        assert code_of(brief) == code_of(doing)
        shared = set(Brief._fields) & {field.name for field in fields(Doing)} - {"zero_by"}
        assert {name: getattr(brief, name) for name in shared} == {name: getattr(doing, name) for name in shared}
        assert (brief.zero_by or "") == doing.zero_by
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
    assert that_are("over", read(now))
    row.overrides = {"target_latency_p95_ms": 0, "target_rps": 0}
    sample.tick(row, now, sample.Scene(p95=545))
    assert [code_of(brief) for brief in read(now)] == ["untargeted"]


@pytest.mark.django_db
def test_a_pause_of_one_direction_is_told_before_the_load_and_after_what_stops_a_tick(now: datetime) -> None:
    row = sample.make_deployment("chat", now, pause_direction="down")
    sample.tick(row, now, sample.Scene(p95=900))
    assert [code_of(brief) for brief in read(now)] == ["paused_down"]
    sample.tick(row, now, sample.Scene(prometheus_down=True))
    assert [code_of(brief) for brief in read(now)] == ["prometheus_down"]


@pytest.mark.django_db
def test_what_no_tick_has_told_yet_is_new_and_counts_nowhere(now: datetime) -> None:
    sample.make_scaler(sample.make_deployment("chat", now), now)
    (brief,) = read(now)
    assert code_of(brief) == "new" and brief.coming is None
    assert [code for code in CONDITIONS if that_are(code, [brief])] == []
