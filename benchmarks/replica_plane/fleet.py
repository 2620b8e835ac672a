"""The fleet as a process of its own, and what it tells of itself."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.replica_plane import ROOT

READY_SECONDS = 60.0
ANSWER_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """One call to scale as the Gateway got it; `at` in Unix seconds, `started` the ids of its new replicas."""

    number: int
    at: float
    deployment: str
    add: int
    stop: tuple[str, ...]
    status: str
    started: tuple[str, ...]


class FleetProcess:
    """`python -m scaling.testing.fleet` at `url`, once it is started; it ends with this process."""

    def __init__(self, folder: Path, port: int, token: str, arguments: Sequence[str]) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.began = 0.0
        self._state = folder / "fleet"
        self._log = folder / "fleet.log"
        self._token = token
        command = [sys.executable, "-m", "scaling.testing.fleet", "--state-dir", str(self._state), "--port", str(port)]
        self._command = [*command, "--with-parent", *arguments]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when it answers; its load begins now."""
        self.began = time.time()
        with self._log.open("ab") as log:
            self._process = process = subprocess.Popen(
                self._command,
                cwd=ROOT,
                env={**os.environ, "DEPLOYMENT_SCALER_SERVICE_TOKEN": self._token},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + READY_SECONDS
        while not (self._state / "fleet.json").exists():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the fleet did not start: {self._log.read_text(errors='replace')[-500:]}")
            time.sleep(0.02)

    def ask(self, path: str, body: object = None) -> Any:
        """The JSON at `path`; with a body it is posted."""
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self.url + path, data=data), timeout=ANSWER_SECONDS) as got:
            return json.load(got)

    def calls(self, since: int = 0) -> list[LoggedCall]:
        """Every call to scale after that number."""
        return [
            LoggedCall(
                entry["number"],
                entry["at"],
                entry["call"]["deployment_id"],
                entry["call"]["replicas_to_add"],
                tuple(entry["call"]["replica_ids_to_stop"]),
                entry["status"],
                tuple(entry["started"]),
            )
            for entry in self.ask(f"/_log?since={since}")["calls"]
        ]

    def replicas(self) -> dict[str, list[str]]:
        """The ids of each deployment's replicas that are there and do not leave."""
        return {
            name: [id_ for id_, one in it["replicas"].items() if one["status"] in ("pending", "running")]
            for name, it in self.ask("/_state")["deployments"].items()
        }

    def close(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
