"""Keeping three children alive, with small programs in their place: what is told, and what is ended."""

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scaling.stopping import StopRequest
from scaling.supervisor import supervisor
from scaling.supervisor.children import Child, Program
from scaling.supervisor.supervisor import Supervisor
from scaling.supervisor.watch import QueueWatch
from tests.supervisor.running import PACE, alive, within

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

SLEEP = "import time; time.sleep(60)"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"

Start = Callable[..., tuple[Supervisor, StopRequest, list[str], threading.Thread]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Runs a supervisor in a thread, over children that run this Python code; all are ended at the end."""
    running: list[tuple[StopRequest, threading.Thread]] = []

    def started(**code: str):  # type: ignore[no-untyped-def]
        children = [
            Child(Program(name, (sys.executable, "-I", "-S", "-c", code.get(name, SLEEP))), tmp_path / f"{name}.log")
            for name in ("web", "worker", "ticker")
        ]
        said: list[str] = []
        kept = Supervisor(*children, QueueWatch(tmp_path / "marks"), said.append)
        stop = StopRequest()
        thread = threading.Thread(target=kept.run, args=(stop,))
        thread.start()
        running.append((stop, thread))
        return kept, stop, said, thread

    yield started
    for stop, thread in running:
        stop.set()
        thread.join(10)
        assert not thread.is_alive()


def is_stubborn(kept: Supervisor) -> bool:
    """Whether all run, and the worker no longer ends when it is asked to."""
    log = kept.children[1].log
    return len(groups(kept)) == 3 and log.exists() and log.read_text() == "up\n"


def groups(kept: Supervisor) -> set[int]:
    return {child.group for child in kept.children if child.group is not None}


def test_a_child_that_dies_at_once_is_told_with_its_reason_and_started_again(start: Start) -> None:
    _, _, said, _ = start(web="raise SystemExit('no template')")
    within(10, lambda: len(said) >= 2, "two deaths")
    assert said[0].startswith("web ended with exit code 1: no template; starting it again in 0.5 s (log: ")
    assert said[1].startswith("web ended with exit code 1: no template; starting it again in 1 s (log: ")


def test_a_long_row_of_deaths_is_told_now_and_then(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scaling.supervisor.children.LONGEST_PAUSE_SECONDS", 0.01)
    kept, stop, said, thread = start(web="raise SystemExit(3)")
    within(30, lambda: kept.children[0].quick_deaths >= 12, "twelve deaths")
    stop.set()
    thread.join(10)
    assert len(said) == 6
    assert "(10 quick deaths in a row)" in said[-1]


def test_a_program_that_is_not_there_is_tried_again(start: Start, tmp_path: Path) -> None:
    kept, _, said, _ = start()
    within(10, lambda: len(groups(kept)) == 3, "three children")
    web = kept.children[0]
    web.program = Program("web", ("/no/such/program",))
    web.signal_group(supervisor.signal.SIGKILL)
    within(10, lambda: any("cannot be started (No such file or directory)" in line for line in said), "the refusal")
    web.program = Program("web", (sys.executable, "-I", "-S", "-c", SLEEP))
    within(10, lambda: len(groups(kept)) == 3, "three children again")


def test_stopping_ends_the_willing_in_order_and_kills_the_stubborn_in_time(start: Start) -> None:
    kept, stop, said, thread = start(worker=STUBBORN)
    within(10, lambda: is_stubborn(kept), "three children")
    ended = groups(kept)
    stop.set()
    within(3 * PACE, lambda: not thread.is_alive(), "the end")
    assert not alive(ended)
    assert said == []


def test_a_second_request_does_not_wait_for_the_stubborn(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "GRACE_SECONDS", 30.0)
    kept, stop, _, thread = start(worker=STUBBORN)
    within(10, lambda: is_stubborn(kept), "three children")
    stop.set()
    thread.join(0.5)
    assert thread.is_alive()
    stop.set()
    within(3 * PACE, lambda: not thread.is_alive(), "the end")
