"""The way from `up` to running processes, step by step."""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException
from logging.handlers import RotatingFileHandler
from pathlib import Path
from socket import socket

from django.conf import settings
from django.db import connection

from scaling import clock
from scaling.logs import StructuredFormatter
from scaling.models import Installation
from scaling.stopping import StopRequest
from scaling.supervisor import cluster, first_start, fleet
from scaling.supervisor.checks import CannotStart, DataFolderLock, listen, make_data_folder
from scaling.supervisor.children import Child, Program
from scaling.supervisor.fleet import DemonstrationFleet
from scaling.supervisor.last_seal import seal_the_rest
from scaling.supervisor.logfiles import FILE_BYTES, FILES_KEPT
from scaling.supervisor.supervisor import Supervisor
from scaling.supervisor.watch import QueueWatch

Say = Callable[[str], None]

# How long the children of a killed `up` may hold on to its port.
LEFTOVER_SECONDS = 3.0
LOOPBACK = ("127.0.0.1", "localhost", "::1")
WILDCARDS = ("0.0.0.0", "::")  # noqa: S104 - compared with, not listened on


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for on the command line."""

    host: str = "127.0.0.1"
    port: int = 8000
    cluster: Path | None = None
    demonstration: bool = True
    show_logs: bool = False


def up(options: Options, stop: StopRequest, say: Say) -> None:
    """Prepare, start and keep everything until `stop`; raises CannotStart with one sentence."""
    folder = Path(settings.STATE_DIR)
    _check_site(options.host)
    cluster.check(options.cluster)
    make_data_folder(folder)
    lock = DataFolderLock(folder)
    _log_into(folder / "logs")
    try:
        with listen(options.host, options.port, LEFTOVER_SECONDS if lock.was_killed else 0.0) as listener:
            _prepare(options, folder, say)
            if not stop.is_set():
                _run(options, folder, listener, stop, say)
    finally:
        lock.release()
    say("Stopped.")


def _check_site(host: str) -> None:
    """In production a site without a name would answer 400 to everybody."""
    if not settings.ALLOWED_HOSTS and not _allowed_hosts(host):
        raise CannotStart(
            "IRIS_ALLOWED_HOSTS must name this site, such as iris.example, when IRIS_PRODUCTION=1 (or name it with "
            "--host)."
        )


def _log_into(logs: Path) -> None:
    """The terminal is for what an operator should read; what this process logs goes beside its children's logs."""
    logs.mkdir(exist_ok=True)
    handler = RotatingFileHandler(logs / "up.log", maxBytes=FILE_BYTES, backupCount=FILES_KEPT, delay=True)
    handler.setFormatter(StructuredFormatter())
    logging.getLogger().handlers[:] = [handler]


def _prepare(options: Options, folder: Path, say: Say) -> None:
    first_start.keep_secret_key(folder)
    first_start.check_database()
    first_start.check_queue()
    with first_start.one_at_a_time():
        first_start.make_tables()
        first_start.make_roles()
        for line in cluster.fill(options.cluster, options.demonstration, clock.now()):
            say(line)
        password = first_start.make_first_admin()
    if password:
        say(f"Login: {first_start.ADMIN}   Password: {password}")
        say("   (shown this once; `.venv/bin/python manage.py changepassword admin` sets another)")
    connection.close()


def _run(options: Options, folder: Path, listener: socket, stop: StopRequest, say: Say) -> None:
    logs = folder / "logs"
    (folder / "static").mkdir(exist_ok=True)
    show = say if options.show_logs else None
    shown = Installation.objects.filter(demonstration=True).exists()
    connection.close()
    demonstration = fleet.prepare(folder, _environment()) if fleet.is_wanted(shown) else None
    added = demonstration.environment if demonstration else {}
    if demonstration:
        say(_words(demonstration))
    web, worker, ticker = (_child(program, logs, show) for program in _programs(options, listener, added))
    others = [_child(program, logs, show) for program in (demonstration.programs if demonstration else ())]
    port = listener.getsockname()[1]
    threading.Thread(target=_announce, args=(options.host, port, logs, stop, say), daemon=True).start()
    queue = QueueWatch(folder / "run" / "marks")
    told = partial(_say_at, say)
    Supervisor(web, worker, ticker, queue, told, others).run(stop)
    seal_the_rest(stop)


def _say_at(say: Say, line: str) -> None:
    say(f"{time.strftime('%H:%M:%S')}  {line}")


def _words(demonstration: DemonstrationFleet) -> str:
    how = "a small stand-in answers for Prometheus" if demonstration.stand_in else "Prometheus scrapes it"
    return f"A small inference fleet runs beside it ({how})."


def _child(program: Program, logs: Path, show: Callable[[str], None] | None) -> Child:
    return Child(program, logs / f"{program.name}.log", show)


def _environment() -> dict[str, str]:
    return {
        "IRIS_STATE_DIR": str(settings.STATE_DIR),
        "DJANGO_SETTINGS_MODULE": "iris_web.settings",
        "PYTHONUNBUFFERED": "1",
        # Found wherever `up` was started from.
        "PYTHONPATH": os.pathsep.join(filter(None, [str(settings.BASE_DIR), os.environ.get("PYTHONPATH", "")])),
    }


def _programs(options: Options, listener: socket, added: Mapping[str, str]) -> tuple[Program, Program, Program]:
    manage = (sys.executable, str(settings.BASE_DIR / "manage.py"))
    environment = {**_environment(), **added}
    web = (sys.executable, "-m", "scaling.supervisor.web", str(listener.fileno()))
    return (
        Program("web", web, environment | _allowed_hosts(options.host), (listener.fileno(),)),
        Program("worker", (*manage, "qcluster"), environment),
        # The web process beside it answers for both.
        Program(
            "ticker", (*manage, "ticker"), {"LYC_HTTP_ADDR": os.environ.get("LYC_HTTP_ADDR") or "off", **environment}
        ),
    )


def _allowed_hosts(host: str) -> dict[str, str]:
    """A host that was named on the command line may be used in the browser too."""
    if os.environ.get("IRIS_ALLOWED_HOSTS") or host in LOOPBACK + WILDCARDS:
        return {}
    return {"IRIS_ALLOWED_HOSTS": ",".join([host, *settings.ALLOWED_HOSTS])}


def _url(host: str, port: int) -> str:
    shown = "127.0.0.1" if host in WILDCARDS else host
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}"


def _announce(host: str, port: int, logs: Path, stop: StopRequest, say: Say) -> None:
    """Tell the address once it answers."""
    while not _answers(host, port):
        if stop.is_set():
            return
        time.sleep(0.1)
    say(f"Iris is ready: {_url(host, port)}")
    if host in WILDCARDS and not os.environ.get("IRIS_ALLOWED_HOSTS"):
        say("   From other machines: set IRIS_ALLOWED_HOSTS to the names this one is called by.")
    say(f"   Logs: {logs}   Stop: Ctrl-C")


def _answers(host: str, port: int) -> bool:
    """Whether the web process answers anything at all: in production its answer may send elsewhere."""
    asked = HTTPConnection("127.0.0.1" if host in WILDCARDS else host, port, timeout=5)
    try:
        asked.request("GET", "/healthz")
        return asked.getresponse().status > 0
    except (OSError, HTTPException):
        return False
    finally:
        asked.close()
