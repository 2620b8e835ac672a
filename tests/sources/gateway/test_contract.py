"""docs/gateway.openapi.yaml is what the client accepts and sends, and what the demonstration's Gateway answers."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from scaling.sources.gateway import Gateway, GatewayError, GatewaySettings, ScaleCall
from tests.sources.gateway.answers import deployment, replica, settings
from tests.sources.gateway.servers import Request, always, answer, serving
from tests.testing.fleet.serving import TOKEN, served

DOCUMENT = yaml.safe_load((Path(__file__).resolve().parents[3] / "docs" / "gateway.openapi.yaml").read_text())
REGISTRY: Registry[Any] = Registry().with_resource("urn:gateway", Resource(DOCUMENT, DRAFT202012))


def is_valid(value: object, schema: str) -> bool:
    reference = {"$ref": f"urn:gateway#/components/schemas/{schema}"}
    return Draft202012Validator(reference, registry=REGISTRY).is_valid(value)


def operation(request: Request) -> dict[str, Any]:
    """The documented operation that a request is."""
    for path, item in DOCUMENT["paths"].items():
        before, _, after = path.partition("{id}")
        matches = request.path == path if not after else _between(request.path, before, after)
        if matches and request.method.lower() in item:
            return dict(item[request.method.lower()])
    raise AssertionError(f"{request.method} {request.path} is not documented")


def _between(path: str, before: str, after: str) -> bool:
    return path.startswith(before) and path.endswith(after) and "/" not in path[len(before) : -len(after)]


def test_the_document_and_its_schemas_are_well_formed() -> None:
    assert DOCUMENT["openapi"].startswith("3.1")
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_every_request_of_the_client_is_a_documented_one() -> None:
    def send(request: Request, connection: Any) -> None:
        body: object = {}
        if request.path.endswith("/list"):
            body = [deployment("team/a", without=("replicas",))]
        elif request.path.endswith("/replicas"):
            body = [replica()]
        connection.sendall(answer(body))

    calls = [ScaleCall("team/a", 0, ("r1",)), ScaleCall("b", 3), ScaleCall("c", 1, ("r1", "r2"))]
    with serving(send) as server, Gateway(settings(server.address)) as gateway:
        gateway.fleet(5)
        gateway.scale_all(calls, 5)
    asked = [operation(request)["operationId"] for request in server.requests]
    assert asked == ["listDeployments", "listReplicas", "scale", "scale", "scale"]
    assert unquote(server.requests[1].path.split("/")[-2]) == "team/a"
    for request in server.requests:
        assert request.headers["authorization"].startswith("Bearer ")
        if request.method == "POST":
            assert is_valid(request.json, "ScaleCall"), request.body


def test_every_answer_of_the_demonstrations_gateway_is_a_documented_one(tmp_path: Path) -> None:
    with served(tmp_path) as fleet:
        status, listed = fleet.ask("GET", "/api/v2/external/inference/list")
        assert (status, is_valid(listed, "DeploymentList")) == (200, True)
        status, replicas = fleet.ask("GET", f"/api/v2/external/inference/{quote('d1', safe='')}/replicas")
        assert (status, is_valid(replicas, "ReplicaList")) == (200, True)
        for method, path, token in (
            ("GET", "/api/v2/external/inference/list", "wrong"),
            ("GET", "/api/v2/external/inference/d9/replicas", TOKEN),
            ("POST", "/api/v2/internal/inference/scale", TOKEN),
        ):
            status, problem = fleet.ask(method, path, {}, token)
            assert status >= 400
            assert is_valid(problem, "Problem")
            assert problem["error"]


def test_the_client_reads_the_demonstrations_gateway_and_scales_it(tmp_path: Path) -> None:
    with served(tmp_path) as fleet, Gateway(GatewaySettings(fleet.url, TOKEN)) as gateway:
        listed = gateway.fleet(5).deployments
        assert [(it.id, it.name, len(it.replicas or ())) for it in listed] == [
            ("d1", "model 1", 2),
            ("d2", "model 2", 2),
        ]
        given = gateway.scale_all([ScaleCall("d1", 3, ("d1-1",)), ScaleCall("d9", 1)], 5)
        assert [it.outcome for it in given] == ["ok", "refused"]
        assert "no deployment 'd9'" in given[1].message
        assert len(fleet.fleet.find("d1").replicas) == 5


CHANGES: list[dict[str, Any]] = [
    {},
    {"unknown": [1]},
    {"id": 7},
    {"id": ""},
    {"id": None},
    {"id": "x" * 201},
    {"id": "x" * 200},
    {"id": "  "},
    {"id": "a\x00"},
    {"id": "a\x85"},
    {"id": "a\ud800"},
    {"id": "größe 🦙"},
    {"id": 2**64 - 1},
    {"id": 2**64},
    {"status": "RUNNING"},
    {"status": 1},
    {"status": None},
    {"status": " "},
    {"status": "x" * 50},
    {"status": "x" * 51},
    {"status": "running\n"},
    {"min_replicas": 0},
    {"min_replicas": -1},
    {"min_replicas": 1.0},
    {"min_replicas": 1.5},
    {"min_replicas": "1"},
    {"max_replicas": True},
    {"max_replicas": 100_000},
    {"max_replicas": 100_001},
    {"max_replicas": None},
    {"target_latency_p95_ms": 0},
    {"target_latency_p95_ms": None},
    {"target_rps": "fast"},
    {"target_rps": -0.5},
    {"stabilization_window": False},
    {"stabilisation_window": 60},
    {"stabilization_window": 86_401},
    {"stabilization_window": None, "stabilisation_window": 86_401},
    {"cooldown": "2m"},
    {"cooldown": 86_400},
    {"cooldown": 86_401},
    {"tolerance": 0.2},
    {"tolerance": 0.99},
    {"tolerance": 1},
    {"scale_up_limit": 0},
    {"scale_up_limit": 1},
    {"scale_up_limit": 2},
    {"scale_up_limit": 100_001},
    {"scale_up_limit": 0.5},
    {"last_request_at": 1767268800},
    {"last_request_at": 1767268800000},
    {"last_request_at": "2026-01-01T00:00:00Z"},
    {"last_request_at": []},
    {"name": None},
    {"name": "a\x00" + "b" * 300},
]


@pytest.mark.parametrize("changed", CHANGES, ids=json.dumps)
def test_document_and_client_agree_on_a_deployment(changed: dict[str, Any]) -> None:
    body = {"deployments": [deployment(**changed)]}
    with serving(always(answer(body))) as server, Gateway(settings(server.address)) as gateway:
        try:
            accepted = not gateway.fleet(5).problems
        except GatewayError:
            accepted = False
    assert accepted == is_valid(body, "DeploymentList")


REPLICA_CHANGES: list[dict[str, Any]] = [
    {"node": 1},
    {"id": None},
    {"id": None, "replica_id": "r9"},
    {"status": ""},
    {"status": "x" * 51},
    {"id": "a\x00"},
    {"id": "x" * 201},
    {"id": None, "replica_id": "\udfff"},
    {"healthy": None},
    {"healthy": "true"},
    {"created": None, "created_at": "2026-01-01"},
    {"created": {}},
    {"last_health_check": -5},
    {"last_health_check": ""},
]


@pytest.mark.parametrize("changed", REPLICA_CHANGES, ids=json.dumps)
def test_document_and_client_agree_on_a_replica(changed: dict[str, Any]) -> None:
    entry = {name: value for name, value in replica(**changed).items() if name not in changed or value is not None}
    if changed.get("healthy", True) is None:
        entry["healthy"] = None
    body = [deployment(replicas=[entry])]
    with serving(always(answer(body))) as server, Gateway(settings(server.address)) as gateway:
        accepted = not gateway.fleet(5).problems
    assert accepted == is_valid(body, "DeploymentList")


@pytest.mark.parametrize("body", [[], {"data": []}, {"deployments": [], "data": 3}, {"items": []}, {}, None, "x"])
def test_document_and_client_agree_on_what_is_around_the_list(body: object) -> None:
    with serving(always(answer(body))) as server, Gateway(settings(server.address)) as gateway:
        try:
            gateway.fleet(5)
            accepted = True
        except GatewayError:
            accepted = False
    assert accepted == is_valid(body, "DeploymentList")
