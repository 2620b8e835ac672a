"""Opens a place for the live scaler: a folder, a database, a fleet and what reads its metrics."""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.replica_plane import ROOT
from benchmarks.replica_plane.fleet import FleetProcess
from benchmarks.replica_plane.instance import Instance
from scaling.supervisor.guard import Guard
from tests.services.postgres import postgres
from tests.services.programs import free_port, running
from tests.services.prometheus import is_ready

OURS = ("IRIS_", "DJANGO_", "LYC_", "DATABASE_URL", "API_BASE_URL", "DEPLOYMENT_SCALER_SERVICE_TOKEN")
DATABASES = ("sqlite", "postgres")
_PROMETHEUS = """\
global: {{scrape_interval: {every}, scrape_timeout: {every}}}
scrape_configs:
  - job_name: replicas
    http_sd_configs: [{{url: "{targets}", refresh_interval: {every}}}]
"""


@dataclass(slots=True)
class Place:
    """Where everything is; `log` is what all instances write."""

    folder: Path
    fleet: FleetProcess
    log: Path
    guard: Guard
    metrics: str
    instances: dict[str, Instance] = field(default_factory=dict)

    def start(self, name: str, **environment: str) -> Instance:
        """Start an instance of that name, anew where it has been killed."""
        if name not in self.instances:
            self.instances[name] = Instance(name, self.log, self.guard, environment)
        self.instances[name].start()
        return self.instances[name]

    def serves(self) -> bool:
        """Whether a task queue has run a task."""
        from scaling.models import Heartbeat

        return Heartbeat.objects.exists()

    def errors(self) -> list[str]:
        """What the instances logged as errors."""
        if not self.log.exists():
            return []
        return [line for line in self.log.read_text(errors="replace").splitlines() if " ERROR " in line]


@contextmanager
def opened(
    fleet: Sequence[str], settings: Mapping[str, str], database: str = "sqlite", scrape: str = "", keep: bool = False
) -> Iterator[Place]:
    """With Django set up on its database, ready for fleet and instances to be started; all of it is gone at the end.

    `fleet` are the fleet's arguments, `settings` the instances' environment. With `scrape` (an interval such as `1s`) a
    Prometheus of its own reads the replicas' processes; without it the fleet's stand-in is asked.
    """
    _forget_ours()
    with ExitStack() as stack:
        folder = stack.enter_context(_folder(keep))
        url = stack.enter_context(postgres()) if database == "postgres" else ""
        token = secrets.token_urlsafe(24)
        process = FleetProcess(folder, free_port(), token, fleet)
        stack.callback(process.close)
        metrics = stack.enter_context(_scraping(folder, process.url, scrape)) if scrape else f"{process.url}/prometheus"
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "iris_web.settings",
            "IRIS_SECRET_KEY": secrets.token_urlsafe(50),
            "IRIS_STATE_DIR": str(folder),
            "IRIS_LOG_LEVEL": "WARNING",
            "DATABASE_URL": url,
            "API_BASE_URL": process.url,
            "DEPLOYMENT_SCALER_SERVICE_TOKEN": token,
            "LYC_PROMETHEUS_ADDR": metrics,
            "LYC_HTTP_ADDR": "off",
            **settings,
        }
        subprocess.run([sys.executable, str(ROOT / "manage.py"), "migrate", "-v0"], check=True)
        _set_up()
        guard = Guard()
        stack.callback(guard.close)
        place = Place(folder, process, folder / "instances.log", guard, metrics)
        stack.callback(lambda: [one.kill() for one in place.instances.values()])
        yield place


def _forget_ours() -> None:
    """Nothing that this machine is told of an installation of its own counts here."""
    for name in [name for name in os.environ if name.startswith(OURS) and name != "IRIS_DATA"]:
        del os.environ[name]


def _set_up() -> None:
    import django

    django.setup()
    from scaling.models import Installation

    Installation.objects.create(identity=secrets.token_hex(8))


@contextmanager
def _folder(keep: bool) -> Iterator[Path]:
    """Kept, and named, when something went wrong on the way."""
    path = Path(tempfile.mkdtemp(prefix="iris-replicas-"))
    # Servers that refuse to run as root have to reach their part of it.
    path.chmod(0o755)
    try:
        yield path
        if not keep:
            shutil.rmtree(path)
    finally:
        if path.exists():
            print(f"data and logs are kept in {path}", file=sys.stderr)


@contextmanager
def _scraping(folder: Path, fleet: str, every: str) -> Iterator[str]:
    """The address of a Prometheus that reads the fleet's replicas as they come and go."""
    base = folder / "prometheus"
    base.mkdir()
    config, address = base / "prometheus.yml", f"127.0.0.1:{free_port()}"
    config.write_text(_PROMETHEUS.format(every=every, targets=f"{fleet}/_targets"))
    command = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={base / 'data'}"]
    command += [f"--web.listen-address={address}", "--log.level=warn"]
    url = f"http://{address}"
    with running("Prometheus", command, base / "log", lambda: is_ready(url), 30):
        yield url
