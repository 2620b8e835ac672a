"""The fleet as a program: real replicas to scrape, kill and stop, a state that outlives it, no orphans."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from scaling.replicas.decision import Outcome
from scaling.sources.gateway import Gateway, GatewaySettings, ScaleCall
from scaling.sources.prometheus import PrometheusSettings, PrometheusSource
from tests.services.fixtures import refuse
from tests.services.programs import MissingProgramError
from tests.services.prometheus import prometheus
from tests.testing.fleet.running import ROOT, RunningProgram, is_alive, members_of_session, program, wait_for

pytestmark = pytest.mark.processes
FAST = ("--tick", "0.2", "--warmup", "0.5")


def healthy(running: RunningProgram, deployment_id: str) -> list[str]:
    return [name for name, it in running.replicas(deployment_id).items() if it["healthy"] and it["address"]]


def metrics_of(address: str) -> dict[str, float]:
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
        lines = answer.read().decode().splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}


def test_replicas_are_processes_that_are_scaled_and_scraped(tmp_path: Path) -> None:
    with program(tmp_path, *FAST) as running, Gateway(GatewaySettings(running.url, running.token)) as gateway:
        assert [it.id for it in gateway.fleet(5).deployments] == [
            "code-assistant",
            "chat",
            "embeddings",
            "nightly-summaries",
        ]
        assert gateway.scale_all([ScaleCall("embeddings", 2)], 5)[0].outcome is Outcome.OK
        wait_for(lambda: len(healthy(running, "embeddings")) == 3)
        replicas = running.replicas("embeddings")
        assert len({it["pid"] for it in replicas.values()}) == 3
        count = 'lyceum_inference_latency_millis_count{deployment_id="embeddings"}'
        wait_for(lambda: all(metrics_of(it["address"])[count] > 0 for it in replicas.values()))
        metrics = metrics_of(replicas["embeddings-1"]["address"])
        buckets = [value for name, value in metrics.items() if "_bucket" in name]
        assert buckets == sorted(buckets)
        assert metrics['lyceum_inference_latency_millis_bucket{deployment_id="embeddings",le="+Inf"}'] == metrics[count]
        assert {it["address"] for it in replicas.values()} <= set(running.get("/_targets")[0]["targets"])

        gateway.scale_all([ScaleCall("embeddings", 0, ("embeddings-1",))], 5)
        wait_for(lambda: not is_alive(replicas["embeddings-1"]["pid"]))
        wait_for(lambda: "embeddings-1" not in running.replicas("embeddings"))


def test_a_killed_replica_is_failed_and_one_that_hangs_goes_stale(tmp_path: Path) -> None:
    with (
        program(tmp_path, *FAST, "--replicas", "2") as running,
        Gateway(GatewaySettings(running.url, running.token)) as gateway,
    ):
        wait_for(lambda: len(healthy(running, "chat")) == 2)
        first, second = running.replicas("chat").values()
        os.kill(first["pid"], signal.SIGKILL)
        wait_for(lambda: running.replicas("chat")["chat-1"]["status"] == "failed")

        def last_check() -> float:
            listed = next(it for it in gateway.fleet(5).deployments if it.id == "chat")
            return next(it.last_health_check or 0 for it in listed.replicas or () if it.id == "chat-2")

        os.kill(second["pid"], signal.SIGSTOP)
        wait_for(lambda: time.time() - last_check() > 1.5)
        os.kill(second["pid"], signal.SIGCONT)
        wait_for(lambda: time.time() - last_check() < 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda it: it.name)
def test_however_it_ends_no_process_is_left(tmp_path: Path, number: signal.Signals) -> None:
    with program(tmp_path, *FAST, "--replicas", "3") as running:
        wait_for(lambda: len(healthy(running, "chat")) == 3)
        session = running.process.pid
        assert len(members_of_session(session)) == 1 + 1 + 12
        code = running.stop(number)
        assert code == (-number if number is signal.SIGKILL else 0)
        wait_for(lambda: members_of_session(session) == [], 10)


def test_with_its_parent_it_ends(tmp_path: Path) -> None:
    starter = (
        "import subprocess, sys; print(subprocess.Popen([sys.executable, *sys.argv[1:]], start_new_session=True).pid)"
    )
    command = ("-m", "scaling.testing.fleet", "--state-dir", str(tmp_path), "--port", "0", "--with-parent", *FAST)
    shell = subprocess.Popen(
        [sys.executable, "-c", f"{starter}; sys.stdout.flush(); sys.stdin.read()", *command],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert shell.stdout is not None
    session = int(shell.stdout.readline())
    wait_for(lambda: (tmp_path / "fleet.json").exists() and len(members_of_session(session)) > 2)
    shell.kill()
    shell.communicate()
    wait_for(lambda: members_of_session(session) == [], 5)


def test_replicas_and_log_outlive_a_restart(tmp_path: Path) -> None:
    with program(tmp_path, *FAST) as running, Gateway(GatewaySettings(running.url, running.token)) as gateway:
        gateway.scale_all([ScaleCall("chat", 2, ("chat-1",))], 5)
        urllib.request.urlopen(
            urllib.request.Request(
                f"{running.url}/_deployments", method="POST", data=b'{"id": "chat", "max_replicas": 7}'
            ),
            timeout=5,
        ).close()
        wait_for(lambda: set(running.replicas("chat")) == {"chat-2", "chat-3", "chat-4"})
        running.stop(signal.SIGKILL)
    with program(tmp_path, *FAST) as running, Gateway(GatewaySettings(running.url, running.token)) as gateway:
        wait_for(lambda: healthy(running, "chat") == ["chat-2", "chat-3", "chat-4"])
        assert next(it.max_replicas for it in gateway.fleet(5).deployments if it.id == "chat") == 7
        assert [call["number"] for call in running.get("/_log")["calls"]] == [1]
        gateway.scale_all([ScaleCall("chat", 1)], 5)
        assert "chat-5" in running.replicas("chat")
        assert running.get("/_log?since=1")["calls"][0]["number"] == 2


def test_a_trace_is_the_load_of_the_first_deployment(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,10,10\n")
    with program(tmp_path, *FAST, "--trace", str(trace)) as running:
        wait_for(lambda: running.get("/_state")["deployments"]["code-assistant"]["requests"] >= 8)


def test_thousands_are_only_modelled(tmp_path: Path) -> None:
    with (
        program(tmp_path, "--virtual", "--deployments", "1000", "--tick", "0.5") as running,
        Gateway(GatewaySettings(running.url, running.token)) as gateway,
    ):
        wait_for(lambda: all(gateway.fleet(5).deployments[0].replicas or ()))
        listed = gateway.fleet(10).deployments
        assert len(listed) == 1000
        assert min(len(it.replicas or ()) for it in listed) >= 1
        assert members_of_session(running.process.pid) == [running.process.pid]
        assert running.get("/_targets") == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--deployments", "-1"), "--deployments: expected 0 to"),
        (("--speed", "0"), "--speed: expected a number above 0"),
        (("--port", "99999"), "--port: 127.0.0.1:99999 cannot be used"),
        (("--trace", "pyproject.toml"), "expected a table with a column TIMESTAMP"),
    ],
)
@pytest.mark.parametrize(
    "command", [("-m", "scaling.testing.fleet"), ("manage.py", "demo_fleet")], ids=["module", "manage"]
)
def test_what_cannot_work_is_one_sentence(
    tmp_path: Path, command: tuple[str, str], arguments: tuple[str, str], said: str
) -> None:
    ran = subprocess.run(
        [sys.executable, *command, "--state-dir", str(tmp_path), *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 1
    assert said in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1


def test_a_damaged_state_is_named_and_not_overwritten(tmp_path: Path) -> None:
    state = tmp_path / "fleet-state.json"
    state.write_text(json.dumps({"deployments": 3}))
    with program(tmp_path) as running:
        assert running.process.wait(10) == 1
        assert running.process.stdout is not None
        assert "not a saved fleet" in running.process.stdout.read()
    assert json.loads(state.read_text()) == {"deployments": 3}


@pytest.mark.prometheus
def test_a_real_prometheus_and_the_stand_in_measure_the_same(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The load swings and each scrapes at moments of its own, so one reading may differ much: medians are compared."""
    with program(tmp_path, "--tick", "0.2", "--replicas", "2", "--load-scale", "2") as running:
        wait_for(lambda: len(healthy(running, "embeddings")) == 2)
        targets = running.get("/_targets")[0]["targets"]
        try:
            with prometheus(targets) as url:
                time.sleep(11)
                real, standin = (measured(address) for address in (url, f"{running.url}/prometheus"))
                deadline = time.monotonic() + 30
                readings = [(real(), standin())]
                while len(readings) < 5 or not agree(readings):
                    assert time.monotonic() < deadline, f"they measure different things: {readings}"
                    time.sleep(1)
                    readings.append((real(), standin()))
        except MissingProgramError as missing:
            refuse(request, f"Prometheus (program {missing})")


Measured = tuple[float, ...]


def measured(address: str) -> Callable[[], Measured]:
    """Requests a second and p95 latency of two deployments, as the server at `address` answers them now."""
    source = PrometheusSource(PrometheusSettings(address=address, username="", password="", window="10s"))

    def now() -> Measured:
        found = source.read(["embeddings", "chat"], time.time(), 5).readings
        values = [value for name in ("embeddings", "chat") for value in (found[name].rps.value, found[name].p95.value)]
        return tuple(float("nan") if value is None else value for value in values)

    return now


def agree(readings: list[tuple[Measured, Measured]]) -> bool:
    real, standin = ([median(values) for values in zip(*side, strict=True)] for side in zip(*readings, strict=True))
    return real == pytest.approx(standin, rel=0.15)
