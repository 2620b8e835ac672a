"""A fleet served within the test's own process, its replicas only modelled, its time moved by the test."""

import json
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from scaling.stopping import StopRequest
from scaling.testing.fleet.fleet import Fleet
from scaling.testing.fleet.history import History
from scaling.testing.fleet.log import ScaleLog
from scaling.testing.fleet.options import Options
from scaling.testing.fleet.program import Parts, RunningFleet
from scaling.testing.fleet.server import FleetServer
from scaling.testing.fleet.spec import Behaviour, DeploymentSpec

TOKEN = "s3cret"


class Steady:
    """The same number of requests each second."""

    def __init__(self, rps: float) -> None:
        self.rps = rps

    def arrivals(self, start: float, end: float) -> int:
        return round(self.rps * end) - round(self.rps * start)


def warm_fleet(deployments: int = 2, replicas: int = 2, rps: float = 20, age_seconds: float = 100) -> Fleet:
    """Deployments d1, d2, ... that began a while ago."""
    specs = [
        DeploymentSpec(f"d{number}", Steady(rps), name=f"model {number}", behaviour=Behaviour(warmup_seconds=0))
        for number in range(1, deployments + 1)
    ]
    fleet = Fleet(specs, began=time.time() - age_seconds)
    for spec in specs:
        fleet.scale(spec.id, replicas, ())
    return fleet


class Served:
    """The fleet and how to speak with it."""

    def __init__(self, url: str, fleet: Fleet, running: RunningFleet) -> None:
        self.url, self.fleet, self.running = url, fleet, running

    def ask(self, method: str, path: str, body: object = None, token: str = TOKEN) -> tuple[int, Any]:
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, json.load(answer)
        except HTTPError as refusal:
            return refusal.code, json.load(refusal)


@contextmanager
def served(folder: Path, fleet: Fleet | None = None, seconds: int = 100) -> Iterator[Served]:
    """Let `seconds` pass in the fleet, each recorded, then serve it standing still."""
    fleet = fleet or warm_fleet(age_seconds=seconds)
    history, stop = History(), StopRequest()
    for _ in range(seconds):
        fleet.advance(fleet.at + 1)
        history.record(fleet)
    running = RunningFleet(Parts(fleet, history, ScaleLog(folder), folder, None))
    with FleetServer(("127.0.0.1", 0), running, TOKEN, stop) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield Served(server.url, fleet, running)
        finally:
            stop.set()
            server.shutdown()
            thread.join()
            running.close()


def options(folder: Path, **changed: Any) -> Options:
    whole: dict[str, Any] = {
        "host": "127.0.0.1",
        "port": 0,
        "state_dir": folder,
        "deployments": 4,
        "speed": 1.0,
        "seed": 1,
        "virtual": False,
        "tick_seconds": 1.0,
        "trace": folder / "none.csv",
        "replicas": None,
        "load_scale": 1.0,
        "warmup": None,
        "fails_every": 0.0,
        "with_parent": False,
        "settings": {},
    }
    return Options(**(whole | changed))
