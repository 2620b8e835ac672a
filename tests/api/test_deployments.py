"""Deployments over the API: what is told of them, and every act on one."""

from typing import Any

import pytest
from django.db.models import QuerySet

from scaling import clock
from scaling.clock import FrozenClock
from scaling.models import Action, Deployment
from scaling.testing.builders import after
from scaling.testing.sample_deployments import Scene, fleet, make_deployment, make_scaler, tick
from tests.api.conftest import Api

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def still(frozen_clock: FrozenClock) -> FrozenClock:
    return frozen_clock


@pytest.fixture
def chat() -> Deployment:
    """A deployment of four healthy replicas with too much load."""
    row = make_deployment("chat", clock.now())
    tick(row, clock.now(), Scene(healthy=4, p95=800, rps=44))
    return row


def _acts() -> QuerySet[Action]:
    return Action.objects.filter(target="deployment chat")


def test_a_deployment_is_told_with_its_replicas_and_its_decision(viewer: Api, chat: Deployment) -> None:
    status, told = viewer.get("/deployments/chat")
    assert status == 200
    assert (told["id"], told["state"], told["healthy"], told["desired"], told["scaler"]) == (
        "chat", "up", 4, 7, "iris-1",
    )  # fmt: skip
    assert told["latency_ratio"] == pytest.approx(1.6)
    assert told["reason"].startswith("The load is 1.6 times its target")
    assert [one["id"] for one in told["replicas"]] == [f"healthy-{n}" for n in (1, 2, 3, 4)]
    assert told["decision"]["add"] == 3
    assert told["decision"]["inputs"]["p95"]["query"].startswith("histogram_quantile")
    assert told["sources"]["cooldown_seconds"] == "default" and told["sources"]["max_replicas"] == "gateway"


def test_what_no_tick_saw_is_null_and_not_zero(viewer: Api) -> None:
    make_deployment("new", clock.now())
    told = viewer.get("/deployments/new")[1]
    unknown = ("healthy", "desired", "p95_ms", "rps", "gate", "reason", "scaler", "ticked_at", "decision")
    assert {name: told[name] for name in unknown} == dict.fromkeys(unknown)
    assert (told["state"], told["replicas"]) == ("unassigned", [])


def test_the_list_comes_in_pages_by_id_without_replicas(viewer: Api) -> None:
    fleet(clock.now(), 40)
    seen: list[str] = []
    cursor = ""
    while True:
        page = viewer.get(f"/deployments?limit=7{cursor}")[1]
        seen += [one["id"] for one in page["items"]]
        assert all("replicas" not in one for one in page["items"])
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert seen == sorted(seen) and len(seen) == len(set(seen)) == 40


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("assigned=false", {"left-over"}),
        ("paused=true", {"paused-both", "paused-down"}),
        ("listed=false", {"not-listed"}),
        ("gate=metrics_unavailable", {"embed-multi"}),
        ("status=stopped", {"draft-model"}),
    ],
)
def test_the_list_is_filtered(viewer: Api, query: str, expected: set[str]) -> None:
    fleet(clock.now())
    assert {one["id"] for one in viewer.get(f"/deployments?{query}")[1]["items"]} == expected
    if "assigned" in query:
        assert len(viewer.get("/deployments?assigned=true")[1]["items"]) == 39


def test_one_that_is_gone_is_not_told(viewer: Api, chat: Deployment) -> None:
    Deployment.objects.update(gone_at=clock.now())
    assert viewer.get("/deployments/chat")[0] == 404
    assert viewer.get("/deployments")[1]["items"] == []


def test_it_is_paused_in_a_direction_with_an_expiry_and_resumed(operator: Api, chat: Deployment) -> None:
    until = after(clock.now(), 600).isoformat()
    status, told = operator.post("/deployments/chat/pause", {"direction": "down", "until": until, "reason": "test"})
    assert (status, told["paused"], told["pause_until"], told["state"]) == (200, "down", until, "paused_down")
    status, told = operator.post("/deployments/chat/resume", {"version": told["version"]})
    assert (status, told["paused"]) == (200, None)
    assert list(_acts().order_by("id").values_list("kind", "source")) == [("pause", "api"), ("resume", "api")]


def test_it_is_scaled_now_held_at_zero_and_woken(operator: Api, chat: Deployment) -> None:
    assert operator.post("/deployments/chat/scale", {"replicas": 6})[1]["wanted_replicas"] == 6
    held = operator.post("/deployments/chat/scale", {"replicas": 0})[1]
    assert (held["wanted_replicas"], held["zero_by"]) == (0, "operator")
    assert operator.post("/deployments/chat/wake")[1]["zero_by"] is None


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("scale", {}, 400, "replicas: expected a value"),
        ("scale", {"replicas": 99}, 422, "maximum of 10"),
        ("scale", {"replicas": "3"}, 400, "whole number"),
        ("pause", {"direction": "sideways"}, 400, "one of both, up, down"),
        ("resume", {}, 422, "not paused"),
        ("wake", {}, 422, "not at zero"),
    ],
)
def test_a_refused_act_says_what_was_expected(
    operator: Api, chat: Deployment, path: str, body: dict[str, Any], status: int, words: str
) -> None:
    found, told = operator.post(f"/deployments/chat/{path}", body)
    assert found == status, told
    assert words in told["detail"]
    assert not _acts().exists()


def test_settings_are_set_in_place_of_the_gateways_and_given_back(admin: Api, chat: Deployment) -> None:
    status, told = admin.call("PATCH", "/deployments/chat/settings", {"version": 1, "max_replicas": 20})
    assert (status, told["max_replicas"], told["sources"]["max_replicas"]) == (200, 20, "override")
    told = admin.post("/deployments/chat/settings", {"version": 2, "max_replicas": None})[1]
    assert (told["max_replicas"], told["overrides"]) == (10, {})


def test_an_edit_of_an_older_version_is_a_conflict(admin: Api, chat: Deployment) -> None:
    admin.post("/deployments/chat/settings", {"version": 1, "min_replicas": 2})
    status, told = admin.post("/deployments/chat/settings", {"version": 1, "min_replicas": 3})
    assert (status, told["version"]) == (409, 2)


def test_absent_ones_are_forgotten(operator: Api) -> None:
    row = make_deployment("lost", clock.now(), absent_since=clock.now())
    make_scaler(row, clock.now())
    assert operator.post("/deployments/absent/forget", {"reason": "moved"}) == (200, {"forgotten": 1})
    assert operator.post("/deployments/absent/forget")[0] == 422
    row.refresh_from_db()
    assert row.gone_at is not None
