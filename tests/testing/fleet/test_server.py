"""The fleet over HTTP: scaling it, looking at it, and every fault that can be switched on, met by Iris' own clients."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scaling.replicas.decision import Outcome
from scaling.sources.gateway import (
    Gateway,
    GatewayError,
    GatewayMalformed,
    GatewayRefused,
    GatewaySettings,
    GatewayTimedOut,
    GatewayUnreachable,
    ScaleCall,
)
from scaling.testing.fleet.log import ScaleLog
from tests.testing.fleet.serving import TOKEN, Served, served

LIST = "/api/v2/external/inference/list"
SCALE = "/api/v2/internal/inference/scale"


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as running:
        yield running


@pytest.fixture
def gateway(fleet: Served) -> Iterator[Gateway]:
    with Gateway(GatewaySettings(fleet.url, TOKEN)) as client:
        yield client


def switch(fleet: Served, **faults: object) -> None:
    assert fleet.ask("POST", "/_faults", faults)[0] == 200


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("down", GatewayUnreachable),
        ("slow", GatewayTimedOut),
        ("401", GatewayRefused),
        ("500", GatewayRefused),
        ("truncated", GatewayMalformed),
        ("cut", GatewayMalformed),
    ],
)
def test_a_fault_of_the_list_is_met_and_passes(
    fleet: Served, gateway: Gateway, fault: str, error: type[GatewayError]
) -> None:
    switch(fleet, list=fault)
    with pytest.raises(error):
        gateway.fleet(0.4)
    fleet.ask("DELETE", "/_faults")
    assert len(gateway.fleet(5).deployments) == 2


def test_an_empty_list_is_a_whole_answer(fleet: Served, gateway: Gateway) -> None:
    switch(fleet, list="empty")
    assert gateway.fleet(5).deployments == ()


def test_replicas_left_out_are_fetched_one_by_one(fleet: Served, gateway: Gateway) -> None:
    whole = gateway.fleet(5)
    switch(fleet, omit_replicas=True)
    assert gateway.fleet(5) == whole


def test_a_wrong_token_is_refused_everywhere_in_the_api_and_nothing_is_done(fleet: Served) -> None:
    body = {"deployment_id": "d1", "replicas_to_add": 1, "replica_ids_to_stop": []}
    for method, path in (("GET", LIST), ("GET", "/api/v2/external/inference/d1/replicas"), ("POST", SCALE)):
        assert fleet.ask(method, path, body if method == "POST" else None, token="wrong")[0] == 401
    assert len(fleet.fleet.find("d1").replicas) == 2


@pytest.mark.parametrize(
    ("fault", "outcome", "done"),
    [
        ("500", Outcome.REFUSED, False),
        ("401", Outcome.REFUSED, False),
        ("504", Outcome.TIMEOUT, False),
        ("down", Outcome.TIMEOUT, False),
        ("slow", Outcome.TIMEOUT, True),
        ("lost", Outcome.TIMEOUT, True),
        ("cut", Outcome.OK, True),
        ("truncated", Outcome.OK, True),
    ],
)
def test_a_fault_of_scale_is_told_by_its_outcome_and_logged(
    fleet: Served, gateway: Gateway, fault: str, outcome: Outcome, done: bool
) -> None:
    switch(fleet, scale=fault)
    given = gateway.scale_all([ScaleCall("d1", 1)], 0.4)[0]
    assert given.outcome is outcome
    assert len(fleet.fleet.find("d1").replicas) == 2 + done
    (call,) = fleet.ask("GET", "/_log")[1]["calls"]
    assert (call["status"], call["started"]) == (fault, ["d1-3"] if done else [])


def test_the_log_has_every_call_with_its_time(fleet: Served, gateway: Gateway, tmp_path: Path) -> None:
    before = time.time()
    gateway.scale_all([ScaleCall("d1", 2, ("d1-1",))], 5)
    gateway.scale_all([ScaleCall("d2", 1)], 5)
    calls = fleet.ask("GET", "/_log")[1]["calls"]
    assert calls[0]["call"] == {"deployment_id": "d1", "replicas_to_add": 2, "replica_ids_to_stop": ["d1-1"]}
    assert calls[0]["started"] == ["d1-3", "d1-4"]
    assert before <= calls[0]["at"] <= calls[1]["at"] <= time.time()
    assert [call["number"] for call in calls] == [1, 2]
    assert fleet.ask("GET", "/_log?since=1")[1]["calls"] == calls[1:]
    assert ScaleLog(tmp_path).since(0) == calls


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ([], "expected an object"),
        ({"replicas_to_add": 1, "replica_ids_to_stop": []}, "deployment_id: expected a text"),
        ({"deployment_id": "d1", "replicas_to_add": -1, "replica_ids_to_stop": []}, "replicas_to_add: expected"),
        ({"deployment_id": "d1", "replicas_to_add": 1, "replica_ids_to_stop": [1]}, "replica_ids_to_stop: expected"),
    ],
)
def test_a_call_that_is_none_is_refused_by_its_field(fleet: Served, body: object, said: str) -> None:
    status, problem = fleet.ask("POST", SCALE, body)
    assert status == 400
    assert said in problem["error"]


def test_a_lagging_list_shows_new_replicas_late(fleet: Served, gateway: Gateway) -> None:
    switch(fleet, lag_seconds=10)
    gateway.scale_all([ScaleCall("d1", 1)], 5)
    assert len(gateway.fleet(5).deployments[0].replicas or ()) == 2
    fleet.fleet.advance(fleet.fleet.at + 10)
    assert len(gateway.fleet(5).deployments[0].replicas or ()) == 3


def test_a_deployment_is_changed_and_a_replica_made_to_fail(fleet: Served, gateway: Gateway) -> None:
    assert fleet.ask("POST", "/_deployments", {"id": "d1", "min_replicas": 4, "status": "paused"})[0] == 200
    assert fleet.ask("POST", "/_replicas", {"id": "d1", "replica_id": "d1-2", "do": "fail"})[0] == 200
    listed = gateway.fleet(5).deployments[0]
    assert (listed.min_replicas, listed.status) == (4, "paused")
    assert [it.status for it in listed.replicas or ()] == ["running", "failed"]


@pytest.mark.parametrize(
    ("path", "order", "said"),
    [
        ("/_faults", {"list": "sideways"}, "list: expected cut, down, empty, slow, truncated or a status"),
        ("/_faults", {"weather": "bad"}, "weather: expected one of list, scale, prometheus"),
        ("/_faults", {"slow_seconds": "long"}, "slow_seconds: expected seconds"),
        ("/_faults", {"omit_replicas": 1}, "omit_replicas: expected true or false"),
        ("/_faults", [], "expected an object"),
        ("/_deployments", {"id": "d1", "color": "red"}, "color: expected one of"),
        ("/_replicas", {"id": "d1", "replica_id": "d1-1", "do": "dance"}, "do: expected one of fail"),
        ("/_replicas", {"id": "d1", "replica_id": "d1-9", "do": "fail"}, "there is no 'd1-9' in 'd1'"),
    ],
)
def test_a_wrong_order_is_refused_in_a_sentence(fleet: Served, path: str, order: object, said: str) -> None:
    status, problem = fleet.ask("POST", path, order)
    assert status == 400
    assert said in problem["error"]


def test_an_unknown_deployment_or_address_is_404(fleet: Served) -> None:
    assert fleet.ask("POST", "/_deployments", {"id": "d9"})[0] == 404
    assert fleet.ask("GET", "/api/v2/external/inference/d9/replicas")[0] == 404
    assert fleet.ask("GET", "/nothing")[0] == 404


def test_the_faults_in_force_can_be_read_and_are_kept_one_by_one(fleet: Served) -> None:
    switch(fleet, list="500", slow_seconds=3)
    switch(fleet, scale=503)
    faults = fleet.ask("GET", "/_faults")[1]
    assert (faults["list"], faults["scale"], faults["prometheus"], faults["slow_seconds"]) == ("500", "503", None, 3)
    switch(fleet, list=None)
    assert fleet.ask("GET", "/_faults")[1]["list"] is None


def test_the_list_is_json_of_moderate_size_for_thousands(tmp_path: Path) -> None:
    from tests.testing.fleet.serving import warm_fleet

    with served(tmp_path, warm_fleet(deployments=300, replicas=4), seconds=2) as large:
        listed = large.ask("GET", LIST)[1]
        assert len(listed["deployments"]) == 300
        assert len(json.dumps(listed)) < 300 * 1200


def test_it_counts_how_often_it_was_asked(fleet: Served) -> None:
    before = fleet.ask("GET", "/_counts")[1]
    fleet.ask("GET", "/api/v2/external/inference/list")
    fleet.ask("GET", "/prometheus/api/v1/query?query=up")
    after = fleet.ask("GET", "/_counts")[1]
    assert {route: after[route] - before[route] for route in after} == {"list": 1, "scale": 0, "prometheus": 1}
