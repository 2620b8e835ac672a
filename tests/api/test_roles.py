"""What a token proves and what it is confined to; tests/web/expectations.py holds which may call what."""

import re
from typing import Any

import pytest
from django.test import Client

from iris_web.api.routes import Route
from iris_web.api.table import ROUTES
from scaling import clock
from scaling.models import ApiToken, QuotaPool
from scaling.testing.builders import make_group, make_installation, make_job, make_marker, make_slice
from scaling.testing.sample_deployments import make_deployment
from tests.api.conftest import Api, As

pytestmark = pytest.mark.django_db


def _named(route: Route) -> str:
    return f"{route.method} {route.path}"


def _address(route: Route) -> str:
    """A real address: group, slice, worker, marker, job and pool all exist."""
    name = {"slices": "s1", "workers": "s1-0"}.get(route.tag, "g")
    places = {"source": "slurm", "job": "a", "deployment": "d", "id": "1", "name": name}
    return re.sub(r"\{(\w+)\}", lambda found: places[found[1]], route.path)


def _body(route: Route) -> Any:
    return {"jobs": []} if route.raw_body is not None else {} if route.body is not None else None


@pytest.fixture
def cluster() -> None:
    make_installation()
    group = make_group("g")
    make_slice(group, clock.now(), name="s1")
    make_marker(group, clock.now())
    QuotaPool.objects.create(name="g")
    make_deployment("d", clock.now())
    make_job(clock.now(), "a", source="slurm")


def test_without_a_token_nothing_is_told(cluster: None, anonymous: Api) -> None:
    for route in ROUTES:
        answer = anonymous.raw(route.method, _address(route), _body(route))
        assert answer.status_code == 401, _named(route)
        assert answer["WWW-Authenticate"] == 'Bearer realm="iris"'
        assert set(answer.json()) == {"type", "title", "status", "detail", "errors"}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Bearer iris_000000000000_secret",
        "Bearer nonsense",
        "Basic dmlld2VyOng=",
        "Bearer ü",
        "Bearer " + "x" * 10_000,
    ],
)
def test_a_wrong_token_is_refused_with_a_challenge(cluster: None, anonymous: Api, header: str) -> None:
    answer = anonymous.raw("GET", "/groups", headers={"Authorization": header})
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith('Bearer realm="iris"')
    assert answer["Content-Type"] == "application/problem+json"


def test_no_forgery_token_is_asked_for(cluster: None, as_role: As) -> None:
    api = as_role("operator")
    assert Api(api.secret, Client(enforce_csrf_checks=True)).post("/groups/g/drain")[0] == 200


def test_an_expired_and_a_revoked_token_are_refused(cluster: None, as_role: As) -> None:
    api = as_role("viewer")
    ApiToken.objects.update(expires_at=clock.now())
    assert api.get("/groups")[0] == 401
    ApiToken.objects.update(expires_at=None, revoked_at=clock.now())
    assert api.get("/groups")[0] == 401


def test_a_scheduler_is_confined_to_its_source(cluster: None, as_role: As) -> None:
    make_job(clock.now(), "b", source="k8s")
    api = as_role("scheduler", "slurm")
    status, answer = api.put("/demand/k8s", {"jobs": []})
    assert (status, answer["detail"]) == (403, 'this token is confined to the demand source "slurm"')
    assert [job["id"] for job in api.get("/jobs")[1]["items"]] == ["a"]
    assert api.get("/jobs?source=k8s")[1]["items"] == []
    assert api.get("/jobs/b")[0] == api.call("DELETE", "/jobs/k8s:b")[0] == 404
    assert api.put("/jobs/k8s:b", {"tasks": 2})[0] == 403


def test_a_worker_is_confined_to_itself(cluster: None, as_role: As) -> None:
    make_slice(make_group("h"), clock.now(), name="s2")
    api = as_role("worker", "s1-0")
    status, answer = api.post("/workers/s2-0/heartbeat", {"active_tasks": 1})
    assert (status, answer["detail"]) == (403, 'this token is confined to the worker "s1-0"')
