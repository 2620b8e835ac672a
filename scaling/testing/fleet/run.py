"""The program in the foreground, until SIGTERM or Ctrl-C."""

import json
import os
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scaling.stopping import StopRequest
from scaling.testing.fleet.fleet import Fleet
from scaling.testing.fleet.history import History
from scaling.testing.fleet.load import read_trace
from scaling.testing.fleet.log import ScaleLog
from scaling.testing.fleet.options import Options, first_replicas, make_specs
from scaling.testing.fleet.processes import ReplicaProcesses
from scaling.testing.fleet.program import Parts, RunningFleet
from scaling.testing.fleet.server import FleetServer
from scaling.testing.fleet.state import UnreadableState, restore

TOKEN_FILE, ABOUT_FILE = "token", "fleet.json"
TOKEN_VARIABLE = "DEPLOYMENT_SCALER_SERVICE_TOKEN"  # noqa: S105 - a variable's name
KEEP_SECONDS, KEEP_VIRTUAL_SECONDS = 7200.0, 300.0


class CannotRun(Exception):
    """Why it cannot start, in one sentence for people."""


def run(options: Options, say: Callable[[str], None]) -> None:
    """Serve and let time pass until a signal; raises CannotRun. `say` gets one line when it is ready."""
    with StopRequest().on_signals(signal.SIGTERM, signal.SIGINT) as stop, _opened(options) as running:
        token = _token(options.state_dir)
        try:
            server = FleetServer((options.host, options.port), running, token, stop)
        except (OSError, OverflowError) as error:
            raise CannotRun(f"--port: {options.host}:{options.port} cannot be used ({error})") from None
        with server:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.2}, daemon=True).start()
            _write_about(options.state_dir, server.url)
            what = "only modelled" if options.virtual else "processes"
            say(f"fleet ready at {server.url}: {options.deployments} deployments, replicas are {what}")
            _pass_time(running, stop, options)
            server.shutdown()


@contextmanager
def _opened(options: Options) -> Iterator[RunningFleet]:
    """The fleet as it was left, or a new one."""
    fleet = _fleet(options)
    keep_seconds = KEEP_VIRTUAL_SECONDS if options.virtual else KEEP_SECONDS
    log = ScaleLog(options.state_dir)
    processes = None if options.virtual else ReplicaProcesses()
    running = RunningFleet(Parts(fleet, History(keep_seconds), log, options.state_dir, processes))
    try:
        running.step()
        yield running
    finally:
        running.close()


def _fleet(options: Options) -> Fleet:
    try:
        options.state_dir.mkdir(parents=True, exist_ok=True)
        trace = read_trace(options.trace) if options.trace.is_file() and not options.virtual else None
        fleet = Fleet(make_specs(options, trace), began=time.time(), seed=options.seed)
        if not restore(fleet, options.state_dir):
            _begin(fleet, options)
    except (OSError, ValueError, UnreadableState) as error:
        raise CannotRun(str(error)) from None
    return fleet


def _begin(fleet: Fleet, options: Options) -> None:
    """The first replicas have been there for long, so they are warm at once."""
    for deployment in fleet.deployments.values():
        fleet.scale(deployment.spec.id, first_replicas(deployment.spec, options), ())
        for replica in deployment.replicas.values():
            replica.warm_at = fleet.at


def _pass_time(running: RunningFleet, stop: StopRequest, options: Options) -> None:
    """Step by step, until it is stopped or, where that is wanted, its parent is gone."""
    parent, due = os.getppid(), time.monotonic()
    while not (options.with_parent and os.getppid() != parent):
        due = max(due + options.tick_seconds, time.monotonic())
        if stop.wait(due - time.monotonic()):
            return
        running.step()


def _token(folder: Path) -> str:
    """The bearer token: as the environment gives it, else one of its own, kept for its owner's eyes."""
    if given := os.environ.get(TOKEN_VARIABLE, ""):
        return given
    path = folder / TOKEN_FILE
    if not path.exists():
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(24))
    return path.read_text()


def _write_about(folder: Path, url: str) -> None:
    about = {"url": url, "prometheus_url": f"{url}/prometheus", "targets_url": f"{url}/_targets", "pid": os.getpid()}
    beside = folder / f"{ABOUT_FILE}.new"
    beside.write_text(json.dumps(about))
    os.replace(beside, folder / ABOUT_FILE)
