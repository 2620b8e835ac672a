"""The loops against a real Gateway that fails in every way it can: nothing is removed on doubt, and all comes back."""

import json
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scaling import clock
from scaling.loops.replicas import manager, scaler, source_states, syncer
from scaling.models import Deployment, Instance, ReplicaDecision, Scaler, SourceState
from scaling.sources import configured
from scaling.sources.gateway import Gateway, GatewaySettings
from scaling.sources.prometheus import PrometheusSettings, PrometheusSource
from tests.testing.fleet.running import RunningProgram, program

pytestmark = pytest.mark.processes

DEPLOYMENTS = 40
LAG_SECONDS = 2
GATEWAY_TIMEOUT_SECONDS = 1.0


@dataclass
class Live:
    """The loops of one instance, the fleet process that they listen to, and a deployment that no test has touched."""

    fleet: RunningProgram
    name: str

    def order(self, path: str, body: object, method: str = "POST") -> Any:
        request = urllib.request.Request(self.fleet.url + path, json.dumps(body).encode(), method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def break_(self, **faults: object) -> None:
        self.order("/_faults", faults)

    def mend(self) -> None:
        self.order("/_faults", {}, "DELETE")

    def sync(self) -> None:
        syncer.run(clock.now())

    def tick(self) -> None:
        scaler.run(clock.now(), "one")

    def calls(self) -> list[dict[str, Any]]:
        return [one for one in self.fleet.get("/_log")["calls"] if one["call"]["deployment_id"] == self.name]

    def started(self) -> list[int]:
        """How many replicas each call for the deployment started."""
        return [len(one["started"]) for one in self.calls()]

    def latest(self) -> dict[str, Any]:
        row: dict[str, Any] = Scaler.objects.get(deployment__deployment_id=self.name).latest
        return row

    def fall_short(self) -> None:
        """Let the deployment lack two replicas of its minimum."""
        self.order("/_deployments", {"id": self.name, "min_replicas": 4})
        self.sync()

    def gates(self) -> set[str]:
        return {row.latest["gate"] for row in Scaler.objects.all()}

    def trouble(self) -> str:
        return SourceState.objects.get(name=source_states.GATEWAY).trouble


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningProgram]:
    # A load within its targets: whatever changes is the faults' doing.
    quiet = ("--target-rps=1000000", "--target-latency-p95-ms=1000000", "--replicas=2", "--tick=0.2", "--warmup=0")
    folder: Path = tmp_path_factory.mktemp("fleet")
    with program(folder, "--virtual", "--deployments", str(DEPLOYMENTS), *quiet) as running:
        yield running


@pytest.fixture(scope="module")
def untouched() -> Iterator[str]:
    return (f"deployment-{number:04d}" for number in range(1, DEPLOYMENTS + 1))


@pytest.fixture
def live(db: None, fleet: RunningProgram, untouched: Iterator[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    """Every deployment is listed, taken, and has been ticked once."""
    gateway = Gateway(GatewaySettings(fleet.url, fleet.token, timeout_seconds=GATEWAY_TIMEOUT_SECONDS))
    metrics = PrometheusSource(PrometheusSettings(f"{fleet.url}/prometheus", window="10s"))
    monkeypatch.setattr(configured, "gateway", lambda: gateway)
    monkeypatch.setattr(configured, "prometheus", lambda: metrics)
    now = clock.now()
    Instance.objects.create(name="one", max_deployments=DEPLOYMENTS, started_at=now, seen_at=now)
    live = Live(fleet, next(untouched))
    live.sync()
    manager.run(clock.now(), "one")
    live.tick()
    yield live
    live.mend()
    live.order("/_deployments", {"id": live.name, "min_replicas": len(fleet.replicas(live.name))})
    gateway.close()
    metrics.close()


LIST_FAULTS = {
    "down": "cannot be reached",
    "slow": "no whole answer in time",
    "401": "check DEPLOYMENT_SCALER_SERVICE_TOKEN",
    "500": "answered HTTP 500",
    "truncated": "no whole JSON",
    "cut": "broke off",
}


@pytest.mark.parametrize(("fault", "words"), LIST_FAULTS.items())
def test_a_list_that_fails_removes_nothing_says_why_and_is_forgiven(live: Live, fault: str, words: str) -> None:
    memories = dict(Scaler.objects.values_list("deployment_id", "memory"))
    calls = len(live.fleet.get("/_log")["calls"])
    live.break_(list=fault, slow_seconds=2 * GATEWAY_TIMEOUT_SECONDS)
    for _ in range(2):
        live.sync()
        assert words in live.trouble()
        live.tick()
        assert words in live.trouble()
    assert live.gates() == {"fleet_unknown"}
    assert Deployment.objects.filter(gone_at=None, absent_since=None).count() == DEPLOYMENTS
    assert all(len(row.replicas) >= 2 for row in Scaler.objects.all())
    assert dict(Scaler.objects.values_list("deployment_id", "memory")) == memories
    assert len(live.fleet.get("/_log")["calls"]) == calls
    live.mend()
    live.tick()
    assert (live.trouble(), live.gates()) == ("", {""})


def test_a_list_that_is_suddenly_empty_is_doubted_for_as_long_as_it_lasts(live: Live) -> None:
    live.break_(list="empty")
    for _ in range(5):
        live.sync()
        live.tick()
    state = SourceState.objects.get(name=source_states.GATEWAY)
    assert state.warnings[0].startswith("The Gateway lists 0 deployments and lacks 40 of the 40 known")
    assert live.gates() == {"fleet_unknown"}
    assert Deployment.objects.filter(gone_at=None).count() == DEPLOYMENTS
    live.mend()
    live.sync()
    live.tick()
    assert SourceState.objects.get(name=source_states.GATEWAY).warnings == []
    assert Deployment.objects.filter(gone_at=None, absent_since=None).count() == DEPLOYMENTS
    assert live.gates() == {""}


REFUSALS = {"500": "HTTP 500", "401": "check DEPLOYMENT_SCALER_SERVICE_TOKEN"}


@pytest.mark.parametrize(("fault", "words"), REFUSALS.items())
def test_a_refused_call_is_not_done_is_tried_again_and_says_why(live: Live, fault: str, words: str) -> None:
    live.fall_short()
    live.break_(scale=fault)
    live.tick()
    live.tick()
    latest = live.latest()
    assert (latest["outcome"], latest["add"]) == ("refused", 2)
    assert words in latest["message"]
    record = ReplicaDecision.objects.filter(deployment__deployment_id=live.name).order_by("-pk")[0].record
    assert words in record["message"]
    live.mend()
    live.tick()
    assert live.latest()["outcome"] == "ok"
    live.tick()
    assert live.started() == [0, 0, 2]


@pytest.mark.parametrize("fault", ["slow", "lost"])
def test_a_call_that_was_carried_out_and_never_answered_buys_once(live: Live, fault: str) -> None:
    live.fall_short()
    # What is there has been there for longer than the list lags; what is bought now shows later.
    time.sleep(LAG_SECONDS)
    live.break_(scale=fault, slow_seconds=2 * GATEWAY_TIMEOUT_SECONDS, lag_seconds=LAG_SECONDS)
    live.tick()
    assert live.latest()["outcome"] == "timeout"
    live.break_(scale=None)
    live.tick()
    live.tick()
    assert live.started() == [2]


@pytest.mark.parametrize("fault", ["truncated", "cut"])
def test_half_an_answer_to_a_call_is_an_answer(live: Live, fault: str) -> None:
    live.fall_short()
    live.break_(scale=fault)
    live.tick()
    assert live.latest()["outcome"] == "ok"
    live.tick()
    assert live.started() == [2]


def test_a_gateway_that_stops_and_starts_again_is_met_without_a_restart(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with program(tmp_path, "--virtual", "--deployments=2", "--replicas=1") as other:
        gateway = Gateway(GatewaySettings(other.url, other.token, timeout_seconds=GATEWAY_TIMEOUT_SECONDS))
        monkeypatch.setattr(configured, "gateway", lambda: gateway)
        assert len(gateway.fleet(5).deployments) == 2
        port = other.url.rpartition(":")[2]
        other.stop()
        live.tick()
        assert "cannot be reached" in live.trouble()
    with program(tmp_path, "--virtual", "--deployments=2", "--port", port):
        assert len(gateway.fleet(5).deployments) == 2
        live.tick()
        assert live.trouble() == ""
    gateway.close()
