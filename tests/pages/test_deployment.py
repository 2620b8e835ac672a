"""One deployment's page: its state, orders, figures, why it did (not) scale, replicas, settings, actions."""

import math
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from iris_web.pages.deployment_rows import DeploymentRow
from iris_web.pages.deployment_states import doing_of
from iris_web.pages.deployment_words import GATES
from scaling.history import Actor, record
from scaling.models import CrashedReplica, Deployment, ReplicaDecision, Scaler
from scaling.replicas.decision import Gate, Outcome
from scaling.replicas.memory import ZeroBy
from scaling.testing import builders
from scaling.testing.sample_deployments import Scene, make_decision, make_deployment, make_scaler, tick
from tests.pages.conftest import Get

pytestmark = pytest.mark.django_db
SignIn = Callable[[str], Client]
PATH = "/deployments/chat/"


@pytest.fixture
def chat(now: datetime) -> Deployment:
    return make_deployment("chat", now, name="Chat, large")


def test_its_head_tells_state_scaler_and_last_request(chat: Deployment, now: datetime, see: Get) -> None:
    tick(chat, now, Scene(healthy=4, p95=800, rps=44))
    text = see(PATH)
    assert "Chat, large scaling up chat · running · scaled by iris-1, last tick 0 s ago · last request 1 s ago" in text


def test_its_last_request_is_the_one_that_the_latest_tick_was_told(chat: Deployment, now: datetime, see: Get) -> None:
    tick(chat, now, Scene())
    scaler = Scaler.objects.get()
    scaler.latest["last_request_at"] = now.timestamp() - 40
    scaler.save()
    assert "last request 40 s ago" in see(PATH)


def test_one_that_is_unknown_or_gone_is_no_page(chat: Deployment, now: datetime, see: Get) -> None:
    see("/deployments/nothing/", status=404)
    Deployment.objects.update(gone_at=now)
    see(PATH, status=404)
    see(f"{PATH}series", status=404)


def test_what_a_viewer_may_not_do_is_not_drawn(chat: Deployment, now: datetime, sign_in: SignIn) -> None:
    tick(chat, now, Scene(healthy=0, p95=None, rps=None, zero_by=ZeroBy.OPERATOR))
    drawn = {
        role: set(re.findall(r'href="/deployments/chat/(\w+)/"', sign_in(role).get(PATH).content.decode()))
        for role in ("viewer", "operator", "admin")
    }
    assert drawn["viewer"] == set()
    assert drawn["operator"] == {"pause", "scale", "wake"}
    assert drawn["admin"] == {"pause", "scale", "wake", "edit"}


def test_a_load_exactly_at_its_tolerance_is_not_over_it(now: datetime) -> None:
    """680 of 500 ms is 1.36 times as much, and as numbers 1.36 is a little more than 1 + 0.36."""
    for p95, over in ((680, False), (681, True)):
        row = make_deployment(f"at-{p95}", now, tolerance=0.36)
        tick(row, now, Scene(p95=p95))
        row = Deployment.objects.select_related("scaler").get(pk=row.pk)
        assert DeploymentRow(row, doing_of(row, now), now).latency.over == over


def test_figures_stand_beside_their_targets(chat: Deployment, now: datetime, see: Get) -> None:
    tick(chat, now, Scene(healthy=5, warming=2, unhealthy=1, failed=1, p95=640, rps=61, scaled_ago=40))
    text = see(PATH)
    assert "p95 latency 640 ms 1.28 × the target of 500 ms" in text
    assert "Requests per replica 12.2 a second 1.22 × the target of 10/s · 61/s in all" in text
    assert "Healthy replicas 5 of 1–10 2 warming · 2 unhealthy or failed" in text
    assert "Desired 7 Cooling down 1 min 20 s" in text
    assert "The charts are drawn with javascript, which is off in this browser. The latest values, as of 2026-" in text
    assert "p95 latency 640 ms 500 ms Requests of all replicas 61/s – Requests per replica 12.2/s 10/s" in text
    assert "Healthy replicas 5 1 to 10 Warming replicas 2 – Desired replicas 7 –" in text
    assert "Cooling down: 120 s after each change by load" in text
    why, _, decisions = text.partition("stored when something differs")
    assert "Next possible change: 2026-01-01 12:01:20 UTC, in 1 min 20 s." in why
    assert "As it stood then, held until 2026-01-01 12:01:20 UTC." in decisions and " in 1 min 20 s" not in decisions


def test_what_is_unknown_is_a_dash_and_never_zero(chat: Deployment, now: datetime, see: Get) -> None:
    tick(chat, now, Scene(listed=False, p95=None, rps=None))
    text = see(PATH)
    assert "p95 latency – target 500 ms, nothing known" in text
    assert "Healthy replicas – of 1–10 not known" in text
    assert "Which replicas it has is not known." in text
    assert "Desired –" in text


def test_a_pause_in_force_is_told_with_direction_and_end(chat: Deployment, now: datetime, see: Get) -> None:
    pause = {"pause_since": now, "pause_by": "ana", "pause_reason": "load test"}
    Deployment.objects.update(pause_direction="up", pause_until=builders.after(now, 600), **pause)
    text = see(PATH, "operator")
    assert "Adding is paused for 0 s, ordered by ana: load test. Ends in 10 min" in text
    assert "Resume" in text
    Deployment.objects.update(pause_until=now)
    assert "Adding is paused" not in see(PATH)


def test_one_held_at_zero_says_until_when(chat: Deployment, now: datetime, see: Get) -> None:
    tick(chat, now, Scene(healthy=0, p95=math.nan, rps=0, zero_by=ZeroBy.OPERATOR))
    assert "Held at zero by an operator: nothing is added by any rule until it is woken." in see(PATH)


def test_an_order_not_reached_yet_is_told_with_its_end(chat: Deployment, now: datetime, see: Get) -> None:
    tick(chat, now, Scene(healthy=4))
    Deployment.objects.update(wanted_replicas=7, wanted_by="ana", wanted_until=builders.after(now, 300))
    assert "Scaling to 7, ordered by ana: 4 are there or coming. Given up in 5 min if not reached." in see(PATH)


def test_an_unassigned_one_tells_the_remedy(chat: Deployment, now: datetime, see: Get) -> None:
    make_scaler(chat, now, holder="", expires_at=None, free_since=builders.before(now, 120))
    text = see(PATH)
    assert "No scaler for 2 min: nobody scales it. No free scaler: raise LYC_MAX_DEPLOYMENTS" in text
    assert "Nobody has decided yet" in text


def test_missing_metrics_are_loud_on_its_page(chat: Deployment, now: datetime, see: Get) -> None:
    tick(chat, now, Scene(p95=None, rps=None, missing_for=600))
    assert "Its load is unknown for 10 min" in see(PATH)
    assert "missing is never taken for zero" in see(PATH)


# -- why did it (not) scale


def why(text: str) -> str:
    return text.split("Why did it", 1)[1].split(" Replicas ", 1)[0]


def test_a_scale_up_is_told_from_what_was_measured_to_what_came_back(chat: Deployment, now: datetime, see: Get) -> None:
    decision = tick(chat, now, Scene(healthy=4, warming=1, p95=800, rps=44))
    decision.action_id = 71
    decision.save()
    told = why(see(PATH))
    assert told.startswith(" scale? decided 0 s ago The load is 1.6 times its target, 7 are desired")
    assert "What was there 4 healthy, 1 warming" in told
    assert "p95 latency: 800 ms, 3 s before the tick" in told
    assert "1.6 times a target of 500 ms: asks for 7 replicas" in told
    assert "Requests: 44 requests/s, 3 s before the tick" in told
    assert "1.1 times a target of 10 requests/s per replica: asks for 5 replicas" in told
    assert "histogram_quantile(0.95," in told
    assert "A ratio of 1.600 ; desired 7, the most within the window 7." in told
    assert "Already coming bound those that are coming are not asked for again +3 +2" in told
    assert "What was sent Add 2 replicas (load) What came back done The Gateway did it. Its action" in told


def test_all_limiters_stand_in_the_order_they_acted(chat: Deployment, now: datetime, see: Get) -> None:
    tick(chat, now, Scene(healthy=4, p95=800, rps=44))
    told = see(PATH).split("All 17 limiters in order", 1)[1].split("What was sent")[0]
    names = ["Tolerance", "Missing data", "Minimum", "Maximum", "Last replica", "Idle to zero", "Wake", "Lifecycle",
             "Held at zero", "Adding paused", "Removing paused", "Stabilization window", "Already coming", "Room",
             "Limit per call", "One at a time", "Cooldown"]  # fmt: skip
    places = [told.index(f" {name} ") for name in names]
    assert places == sorted(places)
    assert "Maximum 7 7" in told and "One at a time +3 +3" in told


@pytest.mark.parametrize(
    ("scene", "expected"),
    [
        (Scene(p95=300, rps=10, window=((200, 4),)), "Stabilization window bound"),
        (Scene(healthy=10, p95=900), "Maximum bound never more than the maximum 18 10"),
        (Scene(p95=900, scaled_ago=30), "Cooldown bound a rest after each change by load +4 0"),
        (Scene(p95=900, scaled_ago=30), "The gate cooldown held changes by load."),
        (Scene(p95=900, scaled_ago=30), "Next possible change:"),
        (Scene(p95=None, rps=None), "Missing (an empty answer): unknown, not zero"),
        (Scene(error="HTTP 503"), "the query failed: HTTP 503"),
        (Scene(prometheus_down=True), "Prometheus could not be reached"),
        (Scene(p95=math.nan, rps=0), "Idle: no request in the window, so latency has no say"),
        (Scene(listed=False), "Nothing: the gate fleet_unknown stopped the tick"),
        (Scene(healthy=0), "There is no replica: 1 replica is added to reach the minimum."),
        (Scene(healthy=2, unhealthy=2, failed=1, p95=500), "stop failed-1, unhealthy-1"),
        (Scene(p95=900, outcome=Outcome.REFUSED), "refused The Gateway refused: it counts as not done"),
        (Scene(p95=900, outcome=Outcome.TIMEOUT), "timed out The call timed out: it counts as done"),
    ],
)
def test_each_reason_is_told_in_words(chat: Deployment, now: datetime, see: Get, scene: Scene, expected: str) -> None:
    tick(chat, now, scene)
    assert expected in why(see(PATH))


def test_a_decision_that_a_gate_held_is_named_in_words(chat: Deployment, now: datetime, see: Get) -> None:
    assert set(GATES) == set(Gate)
    tick(chat, now, Scene(listed=False))
    assert "Fleet unknown" in see(PATH)


def test_a_metric_without_a_target_has_no_say(now: datetime, see: Get) -> None:
    tick(make_deployment("chat", now, target_rps=None), now, Scene())
    assert "No target: it has no say" in see(PATH)


def test_what_the_gateway_said_is_told_with_its_answer(chat: Deployment, now: datetime, see: Get) -> None:
    decision = tick(chat, now, Scene(p95=900, outcome=Outcome.REFUSED))
    decision.record["message"] = "no GPU is free"
    decision.save()
    assert "is tried again. It said: no GPU is free" in see(PATH)


def test_ticks_that_decided_the_same_are_not_news(chat: Deployment, now: datetime, see: Get) -> None:
    tick(chat, builders.before(now, 90), Scene())
    make_scaler(chat, now, ticked_at=now)
    assert "decided 1 min 30 s ago; ticks since then decided the same" in see(PATH)


@pytest.mark.parametrize("record", [{}, {"gate": "paused", "inputs": {}, "limits": None, "stop": None, "add": None}])
def test_an_old_record_with_less_in_it_is_told_as_far_as_it_goes(
    chat: Deployment, now: datetime, see: Get, record: dict[str, Any]
) -> None:
    make_scaler(chat, now)
    ReplicaDecision.objects.create(deployment=chat, at=now, reason="as it was", outcome="not_sent", record=record)
    assert "as it was" in see(PATH)


# -- the timeline


def test_decisions_come_newest_first_in_pages_by_key(chat: Deployment, now: datetime, sign_in: SignIn) -> None:
    last = tick(chat, now, Scene())
    for n in range(45):
        make_decision(chat, builders.before(now, 45 - n), {**last.record, "reason": f"number {n}."})
    client = sign_in("viewer")
    shown, page = [], client.get(PATH).content.decode()
    while True:
        shown += re.findall(r'<span class="reason-told">(.+?)</span>', page)
        older = re.search(r'rel="next" href="(\?[^"#]+)#decisions"', page)
        if older is None:
            break
        page = client.get(PATH + older[1].replace("&amp;", "&")).content.decode()
    assert len(shown) == 46 and shown[0] == "number 44." and shown[44] == "number 0."
    assert 'rel="prev"' in page


def test_each_decision_opens_to_its_whole_record(chat: Deployment, now: datetime, sign_in: SignIn) -> None:
    first = tick(chat, builders.before(now, 60), Scene(p95=900))
    second = tick(chat, now, Scene(p95=450))
    page = sign_in("viewer").get(PATH).content.decode()
    for decision in (first, second):
        assert f'<details id="decision-open-{decision.pk}">' in page
    assert len(set(re.findall(r'id="([^"]+)"', page))) == len(re.findall(r' id="([^"]+)"', page)), "ids are unique"


def test_the_range_of_the_charts_keeps_the_place_among_decisions(chat: Deployment, now: datetime, see: Get) -> None:
    tick(chat, now, Scene())
    assert "Range: there is no “2h”; expected one of 15m, 1h, 6h, 24h, 7d." in see(f"{PATH}?range=2h")


# -- replicas, settings, actions


def test_replicas_are_listed_what_ails_first(chat: Deployment, now: datetime, see: Get) -> None:
    tick(chat, now, Scene(healthy=2, warming=1, unhealthy=1, failed=1))
    CrashedReplica.objects.create(deployment=chat, replica_id="failed-1", at=now)
    text = see(PATH).split("as the latest tick saw them", 1)[1]
    places = [text.index(f" {name} ") for name in ("failed-1", "unhealthy-1", "warming-1", "healthy-1", "healthy-2")]
    assert places == sorted(places)
    assert "given up as crashed" in text
    assert "warming-1 pending warming 1 min 30 s made 1 min 30 s ago never" in text
    assert "healthy-1 healthy 5 h 33 min made 5 h 33 min ago 8 s ago" in text


def test_replicas_asked_for_and_not_listed_are_told(chat: Deployment, now: datetime, see: Get) -> None:
    tick(chat, now, Scene(healthy=2))
    scaler = Scaler.objects.get()
    scaler.latest["warming"] = 3
    scaler.save()
    assert "3 more replicas asked for and not listed yet: counted as warming." in see(PATH)


def test_settings_tell_where_each_comes_from(now: datetime, see: Get) -> None:
    row = make_deployment("chat", now, cooldown_seconds=60, overrides={"max_replicas": 20, "target_rps": 0})
    tick(row, now, Scene())
    text = see(PATH)
    assert "Max replicas 20 set here; the Gateway says 10" in text
    assert "Target requests per replica none set here; the Gateway says 10/s" in text
    assert "Cooldown 1 min the Gateway's" in text
    assert "Tolerance 10 % the default" in text


def test_what_is_wrong_with_the_settings_is_told(now: datetime, see: Get) -> None:
    row = make_deployment("chat", now, min_replicas=9, max_replicas=3, target_rps=0, target_latency_p95_ms=None)
    tick(row, now, Scene())
    text = see(PATH)
    assert "The minimum of 9 is above the maximum of 3: the maximum wins." in text
    assert "Neither latency nor requests have a target: the load never scales it." in text


def test_a_cooldown_shorter_than_warm_up_and_window_is_told(chat: Deployment, now: datetime, see: Get) -> None:
    tick(chat, now, Scene(healthy=1))
    assert "is shorter than warm-up" not in see(PATH)
    at = now.timestamp()
    Scaler.objects.update(replicas=[["r", "running", True, at - 900, at, True, "healthy", at - 700]])
    assert "The cooldown of 120 s is shorter than warm-up plus rate window (260 s)" in see(PATH)


def test_its_actions_are_listed_and_lead_back(chat: Deployment, now: datetime, see: Get, sign_in: SignIn) -> None:
    record("scale", actor=Actor.user("ana"), target="deployment chat", reason="for the launch")
    record("scale", actor=Actor.user("ana"), target="deployment chat-2", reason="another one")
    text = see(PATH)
    assert "for the launch" in text and "another one" not in text
    history = sign_in("viewer").get("/actions/?target=deployment%20chat").content.decode()
    assert "for the launch" in history and "another one" not in history
    assert '<a href="/deployments/chat/">deployment chat</a>' in history
