"""Every call of the API with every token, and with every person's session, which counts for nothing there."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from iris_web.api.routes import Route
from iris_web.api.table import ROUTES
from scaling import clock
from scaling.models import Action
from scaling.testing import builders
from tests.web.conftest import HUSH, SCOPES, Rows
from tests.web.expectations import CALLS, UNPROVED, Person, Token

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

BEAT, NONE = '{"active_tasks": 1}', '{"jobs": []}'
SecretOf = Callable[[Token], str]
NAMES = {"slices": "slice", "workers": "worker", "pools": "pool_name", "tokens": "token_name"}


def name(route: Route) -> str:
    return f"{route.method} {route.path}"


def address(route: Route, names: dict[str, object]) -> str:
    """The call on things that exist, or not, as `names` has it."""
    own = {
        "id": names["marker" if route.tag == "markers" else "action"],
        "name": "simulated" if route.tag == "platforms" else names[NAMES.get(route.tag, "group")],
    }
    return "/api/v1" + re.sub(r"\{(\w+)\}", lambda found: str((names | own)[found[1]]), route.path)


def body(route: Route) -> dict[str, Any]:
    if route.raw_body is None and route.body is None:
        return {}
    return {"data": json.dumps({"jobs": []} if route.raw_body is not None else {}), "content_type": "application/json"}


def call(client: Client, route: Route, path: str, secret: str = "") -> HttpResponse:
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    answer: HttpResponse = client.generic(route.method, path, headers=headers, **body(route))
    return answer


@pytest.mark.parametrize("kind", Token)
def test_exactly_the_allowed_tokens_are_answered(kind: Token, rows: Rows, secret_of: SecretOf) -> None:
    client, secret, wrong = Client(), secret_of(kind), []
    for route in ROUTES:
        before = Action.objects.count()
        answer = call(client, route, address(route, rows.existing), secret)
        if kind in CALLS[name(route)]:
            if answer.status_code in (401, 403, 405) or answer.status_code >= 500:
                wrong.append((name(route), answer.status_code))
            continue
        refused = 401 if kind in UNPROVED else 403
        if answer.status_code != refused or HUSH in answer.content.decode() or Action.objects.count() != before:
            wrong.append((name(route), answer.status_code, answer.content))
        other = call(client, route, address(route, rows.missing), secret)
        if (other.status_code, other.content) != (refused, answer.content):
            wrong.append((name(route), "differs where nothing exists", other.status_code))
    assert wrong == []


@pytest.mark.parametrize("person", Person)
def test_a_session_counts_for_nothing(person: Person, rows: Rows, come: Callable[..., Client]) -> None:
    client, before = come(person), Action.objects.count()
    for route in ROUTES:
        answer = call(client, route, address(route, rows.existing))
        assert answer.status_code == 401, name(route)
        assert HUSH not in answer.content.decode()
        assert answer["WWW-Authenticate"] == 'Bearer realm="iris"'
    assert Action.objects.count() == before


def test_a_token_counts_in_its_header_alone(rows: Rows, secret_of: SecretOf) -> None:
    secret = secret_of(Token.ADMIN)
    client = Client()
    client.cookies["token"] = client.cookies["Authorization"] = f"Bearer {secret}"
    for query in (f"?token={secret}", f"?access_token={secret}", f"?authorization=Bearer%20{secret}"):
        assert client.get(f"/api/v1/groups{query}").status_code == 401
    assert client.post("/api/v1/halt", {"access_token": secret}).status_code == 401


def test_a_confined_token_cannot_tell_what_others_have(rows: Rows, secret_of: SecretOf) -> None:
    builders.make_job(clock.now(), f"other-{HUSH}", source="k8s")
    client, scheduler, worker = Client(), secret_of(Token.SCHEDULER), secret_of(Token.WORKER)
    pairs = [
        (scheduler, "GET", f"/api/v1/jobs/k8s:other-{HUSH}", "/api/v1/jobs/k8s:nothing"),
        (scheduler, "DELETE", f"/api/v1/jobs/k8s:other-{HUSH}", "/api/v1/jobs/k8s:nothing"),
        (scheduler, "PUT", "/api/v1/demand/k8s", "/api/v1/demand/nothing"),
        (worker, "POST", f"/api/v1/workers/slice-{HUSH}-1/heartbeat", "/api/v1/workers/nothing/heartbeat"),
    ]
    for secret, method, there, nowhere in pairs:
        bearer, body_of_it = {"Authorization": f"Bearer {secret}"}, BEAT if there.endswith("heartbeat") else NONE
        first, second = (
            client.generic(method, at, body_of_it, content_type="application/json", headers=bearer)
            for at in (there, nowhere)
        )
        assert first.status_code == second.status_code and first.status_code in (403, 404), there
        known = first.content.decode().replace(there.rpartition("/")[2], "")
        assert HUSH not in known.replace(SCOPES[Token.WORKER], "")
    assert client.get("/api/v1/jobs", headers={"Authorization": f"Bearer {scheduler}"}).json()["items"] != []


def test_an_address_of_no_call_tells_nothing(rows: Rows) -> None:
    answer = Client().get("/api/v1/nothing")
    assert answer.status_code == 404 and HUSH not in answer.content.decode()
