"""The demonstration's inference fleet beside the other processes: a Gateway with replicas, and Prometheus over them.

With Prometheus on this machine it scrapes the replicas for real; without, the fleet's own stand-in answers its queries
and the pages say so.
"""

import os
import secrets
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from socket import AF_INET, SOCK_STREAM, socket

from django.conf import settings

from scaling.supervisor.children import Program

TOKEN_FILE = "fleet_token"  # noqa: S105 - a file's name
DEPLOYMENTS = 4
# A time-lapse that shows something within minutes; the rules are the same, their times shorter.
PACE = ("--speed", "6", "--warmup", "12", "--cooldown", "60", "--stabilization-window", "120")
LYC_PACE = {"LYC_SCRAPE_INTERVAL": "10s", "LYC_PROMETHEUS_WINDOW": "30s"}
_PROMETHEUS_CONFIG = """\
global: {{scrape_interval: 3s, scrape_timeout: 2s}}
scrape_configs:
  - job_name: replicas
    http_sd_configs: [{{url: "{targets}", refresh_interval: 3s}}]
"""


@dataclass(frozen=True, slots=True)
class DemonstrationFleet:
    """The programs to run, and what the other processes must know of them."""

    programs: tuple[Program, ...]
    environment: Mapping[str, str]
    stand_in: bool


def is_wanted(demonstration: bool) -> bool:
    """A Gateway that somebody configured is the one to use."""
    return demonstration and settings.IRIS_DEMONSTRATION_FLEET and not settings.LYC.enabled


def prepare(folder: Path, environment: Mapping[str, str]) -> DemonstrationFleet:
    """Choose ports, write Prometheus' configuration, and say what to run."""
    gateway = f"http://127.0.0.1:{_free_port()}"
    token = _token(folder)
    prometheus = shutil.which("prometheus")
    programs = [_fleet(folder, gateway, {**environment, "DEPLOYMENT_SCALER_SERVICE_TOKEN": token})]
    address = f"{gateway}/prometheus"
    if prometheus:
        address = f"http://127.0.0.1:{_free_port()}"
        programs.append(_prometheus(prometheus, folder / "prometheus", address, f"{gateway}/_targets"))
    known = {"API_BASE_URL": gateway, "DEPLOYMENT_SCALER_SERVICE_TOKEN": token, "LYC_PROMETHEUS_ADDR": address}
    return DemonstrationFleet(tuple(programs), {**LYC_PACE, **known}, stand_in=not prometheus)


def _fleet(folder: Path, gateway: str, environment: Mapping[str, str]) -> Program:
    port = gateway.rpartition(":")[2]
    command = (sys.executable, "-m", "scaling.testing.fleet", "--port", port, "--state-dir", str(folder / "fleet"))
    return Program("fleet", (*command, "--deployments", str(DEPLOYMENTS), "--with-parent", *PACE), dict(environment))


def _prometheus(program: str, folder: Path, address: str, targets: str) -> Program:
    folder.mkdir(exist_ok=True)
    config = folder / "prometheus.yml"
    config.write_text(_PROMETHEUS_CONFIG.format(targets=targets))
    listen = address.removeprefix("http://")
    return Program(
        "prometheus",
        (
            program,
            f"--config.file={config}",
            f"--storage.tsdb.path={folder / 'data'}",
            "--storage.tsdb.retention.time=2d",
            f"--web.listen-address={listen}",
            "--log.level=warn",
        ),
    )


def _token(folder: Path) -> str:
    """One for good: a fleet that outlives a start knows the others by it."""
    path = folder / TOKEN_FILE
    if not path.exists():
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(24))
    return path.read_text().strip()


def _free_port() -> int:
    with socket(AF_INET, SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
