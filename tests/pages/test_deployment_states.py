"""Every state of a deployment has a word of its own, and each is found where it applies."""

from datetime import datetime
from typing import Any

import pytest

from iris_web.deployment_metrics import families
from iris_web.pages import states
from iris_web.pages.deployment_conditions import CONDITIONS, conditions, counts, there
from iris_web.pages.deployment_paging import page_of
from iris_web.pages.deployment_sources import Fleet
from iris_web.pages.deployment_states import (
    DEPLOYMENT,
    HELD_BY_GATE,
    OUTCOME,
    REPLICA,
    code_of,
    doing_of,
    held_by,
)
from iris_web.pages.deployment_words import CAME_BACK, LIMITS, STEPS
from scaling.models import Deployment
from scaling.replicas.decision import Gate, LimitCode, Outcome, Step
from scaling.replicas.picture import State
from scaling.replicas.replica import ReplicaClass
from scaling.scalers import is_assigned, is_unassigned
from scaling.testing import sample_deployments as sample
from scaling.testing.builders import after, before


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


def codes(now: datetime) -> dict[str, str]:
    """The state of every deployment, as its own page says it; the list's order by state agrees."""
    rows = {row.pk: row for row in there().select_related("scaler")}
    ordered = [rows[pk] for pk in page_of(there(), now, "state", 1000).keys]
    told = [code_of(doing_of(row, now)) for row in ordered]
    assert told == sorted(told, key=list(DEPLOYMENT).index)
    return dict(zip((row.deployment_id for row in ordered), told, strict=True))


@pytest.mark.django_db
def test_the_fleet_shows_each_state_once_and_the_list_agrees_with_the_page(now: datetime) -> None:
    sample.fleet(now)
    expected = {
        "chat-large": "up", "chat-small": "up", "code-complete": "window", "draft-model": "status_gate",
        "embed-en": "down", "embed-multi": "metrics_unavailable", "held-at-zero": "held_zero",
        "left-over": "unassigned",
        "moderation": "steady", "not-listed": "not_listed", "paused-both": "paused", "paused-down": "paused_down",
        "rerank": "over", "summarise": "steady", "translate": "zero", "vision": "steady",
        "whisper": "fleet_unknown",
    }  # fmt: skip
    assert {name: code for name, code in codes(now).items() if not name.startswith("model-")} == expected
    assert held_by(doing_of(Deployment.objects.get(deployment_id="rerank"), now)) == "at its maximum"


@pytest.mark.django_db
def test_an_operators_tolerance_and_targets_count_before_the_gateways(now: datetime) -> None:
    row = sample.make_deployment("chat", now, tolerance=0.5, overrides={"tolerance": 0.05, "target_rps": 0})
    sample.tick(row, now, sample.Scene(p95=545))
    assert counts(there(), conditions(now))["over"] == 1
    row.overrides = {"target_latency_p95_ms": 0, "target_rps": 0}
    sample.tick(row, now, sample.Scene(p95=545))
    assert codes(now) == {"chat": "untargeted"}


@pytest.mark.django_db
def test_a_pause_of_one_direction_is_told_before_the_load_and_after_what_stops_a_tick(now: datetime) -> None:
    row = sample.make_deployment("chat", now, pause_direction="down")
    sample.tick(row, now, sample.Scene(p95=900))
    assert codes(now) == {"chat": "paused_down"}
    sample.tick(row, now, sample.Scene(prometheus_down=True))
    assert codes(now) == {"chat": "prometheus_down"}


@pytest.mark.django_db
def test_what_no_tick_has_told_yet_is_new_and_counts_nowhere(now: datetime) -> None:
    sample.make_scaler(sample.make_deployment("chat", now), now)
    assert codes(now) == {"chat": "new"}
    assert counts(there(), conditions(now)) == {"all": 1, **dict.fromkeys(CONDITIONS, 0)}


# What is in the lease (seconds from now that it ends; since it is free) → whether it counts as scaled.
LEASES: dict[str, tuple[dict[str, Any] | None, bool]] = {
    "held": ({"holder": "i", "expires_at": 25}, True),
    "just lapsed": ({"holder": "i", "expires_at": -2}, True),
    "lapsed long ago": ({"holder": "i", "expires_at": -900}, False),
    "just given back": ({"holder": "", "expires_at": None, "free_since": -2}, True),
    "free for long": ({"holder": "", "expires_at": None, "free_since": -900}, False),
    "without a row": (None, False),
}


@pytest.mark.django_db
@pytest.mark.parametrize("case", LEASES)
def test_list_page_and_metrics_agree_on_who_is_scaled_and_a_takeover_is_no_news(case: str, now: datetime) -> None:
    lease, scaled = LEASES[case]
    row = sample.make_deployment("chat", now)
    if lease is not None:
        times = {name: after(now, ago) if isinstance(ago, int) else ago for name, ago in lease.items()}
        sample.make_scaler(row, now, **times)
    row = Deployment.objects.get()
    assert doing_of(row, now).assigned == scaled
    assert counts(there(), {"yes": is_assigned(now), "no": is_unassigned(now)}) == {
        "all": 1, "yes": int(scaled), "no": int(not scaled),
    }  # fmt: skip
    assert counts(there(), conditions(now))["unassigned"] == int(not scaled)
    told = {family.name: [value for _, value in family.samples] for family in families(now)}
    assert told["iris_deployments_unassigned"] == [int(not scaled)]


@pytest.mark.django_db
def test_the_banners_count_and_date_only_what_somebody_scales(now: datetime) -> None:
    for name, missing_for, lease in (("a", 60.0, {}), ("b", 3600.0, {"expires_at": before(now, 900)})):
        row = sample.make_deployment(name, now)
        sample.tick(row, now, sample.Scene(p95=None, rps=None, missing_for=missing_for), **lease)
    fleet = Fleet(now)
    assert fleet.counts["metrics_unavailable"] == 1 and fleet.counts["unassigned"] == 1
    assert fleet.missing_since == before(now, 60)


def test_what_needs_a_person_comes_first_in_the_order_by_state() -> None:
    assert list(DEPLOYMENT) == [
        "unassigned", "fleet_unknown", "prometheus_down", "metrics_unavailable", "not_listed", "over", "lost_lease",
        "up", "down", "window", "paused", "paused_up", "paused_down", "held_zero", "zero", "untargeted", "status_gate",
        "new", "steady",
    ]  # fmt: skip
