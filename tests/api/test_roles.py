"""Who may call what: every route against every role, from the table that serves them."""

import re
from typing import Any

import pytest
from django.test import Client

from iris_web.api.routes import Route
from iris_web.api.table import ROUTES
from scaling import clock
from scaling.models import Action, ApiToken, QuotaPool
from scaling.testing.builders import make_group, make_installation, make_job, make_marker, make_slice
from scaling.testing.sample_deployments import make_deployment
from tests.api.conftest import Api, As

pytestmark = pytest.mark.django_db

READ, ORDER, ADMIN = {"viewer", "operator", "admin"}, {"operator", "admin"}, {"admin"}
JOBS, DEMAND, BEAT = READ | {"scheduler"}, {"admin", "scheduler"}, {"admin", "worker"}

# Written out, not computed from the table: this is the agreement that the table is held to.
MAY = {
    "GET /status": READ,
    "GET /groups": READ,
    "GET /groups/{name}": READ,
    "GET /slices": READ,
    "GET /slices/{name}": READ,
    "GET /workers": READ,
    "GET /markers": READ,
    "GET /markers/{id}": READ,
    "GET /actions": READ,
    "GET /actions/{id}": READ,
    "GET /platforms": READ,
    "GET /pools": READ,
    "GET /hints": JOBS,
    "GET /jobs": JOBS,
    "GET /jobs/{job}": JOBS,
    "PUT /jobs/{job}": DEMAND,
    "DELETE /jobs/{job}": DEMAND,
    "PUT /demand/{source}": DEMAND,
    "POST /workers/{name}/heartbeat": BEAT,
    "POST /groups/{name}/drain": ORDER,
    "POST /groups/{name}/undrain": ORDER,
    "POST /groups/{name}/pause": ORDER,
    "POST /groups/{name}/resume": ORDER,
    "POST /slices/{name}/drain": ORDER,
    "POST /slices/{name}/undrain": ORDER,
    "POST /markers/{id}/acknowledge": ORDER,
    "POST /markers/{id}/clear": ORDER,
    "POST /markers/{id}/hold": ORDER,
    "GET /deployments": READ,
    "GET /deployments/{deployment}": READ,
    "POST /deployments/{deployment}/pause": ORDER,
    "POST /deployments/{deployment}/resume": ORDER,
    "POST /deployments/{deployment}/scale": ORDER,
    "POST /deployments/{deployment}/wake": ORDER,
    "POST /deployments/absent/forget": ORDER,
    "POST /deployments/{deployment}/settings": ADMIN,
    "PATCH /deployments/{deployment}/settings": ADMIN,
    "POST /halt": ORDER,
    "POST /unhalt": ORDER,
    "POST /groups/{name}/limits": ADMIN,
    "PATCH /groups/{name}/limits": ADMIN,
    "POST /pools/{name}/limits": ADMIN,
    "PATCH /pools/{name}/limits": ADMIN,
    "POST /pools/{name}/forget_learned_limit": ADMIN,
    "POST /platforms/{name}/mode": ADMIN,
    "GET /tokens": ADMIN,
    "POST /tokens": ADMIN,
    "POST /tokens/{name}/revoke": ADMIN,
}
SCOPES = {"scheduler": "slurm", "worker": "s1-0"}


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


def test_the_agreement_names_every_route() -> None:
    assert {_named(route) for route in ROUTES} == set(MAY)


@pytest.mark.parametrize("role", ApiToken.Role.values)
def test_a_role_reaches_what_it_may_and_nothing_else(cluster: None, as_role: As, role: str) -> None:
    api = as_role(role, SCOPES.get(role, ""))
    for route in ROUTES:
        before = Action.objects.count()
        status, answer = api.call(route.method, _address(route), _body(route))
        if role in MAY[_named(route)]:
            assert status not in (401, 403, 405, 500), (_named(route), answer)
        else:
            assert status == 403, (_named(route), answer)
            assert f"yours has the role {role}" in answer["detail"]
            assert Action.objects.count() == before


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


def test_a_session_of_an_admin_counts_for_nothing(cluster: None, sign_in: Any) -> None:
    client: Client = sign_in("admin")
    assert client.get("/api/v1/groups").status_code == 401
    assert client.post("/api/v1/halt").status_code == 401


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
