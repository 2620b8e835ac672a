"""One kept process: its own session, its end with all descendants, and the pauses between quick deaths."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from scaling.supervisor import children
from scaling.supervisor.children import Child, Program

pytestmark = pytest.mark.processes

Make = Callable[..., Child]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """`make(code)` is a child that runs this Python code; all are killed at the end."""
    made: list[Child] = []

    def child(code: str, **options: object) -> Child:
        program = Program("it", (sys.executable, "-I", "-S", "-c", code))
        made.append(Child(program, tmp_path / "it.log", **options))  # type: ignore[arg-type]
        return made[-1]

    yield child
    for each in made:
        each.signal_group(signal.SIGKILL)
        if each.group is not None:
            each.bury()


def wait_for(condition: Callable[[], object], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "did not come about in time"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    with suppress(ProcessLookupError, FileNotFoundError):
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return False


def test_a_child_lives_in_a_session_of_its_own(make: Make) -> None:
    child = make("import time; time.sleep(60)")
    group = child.start()
    assert os.getsid(group) == os.getpgid(group) == group != os.getsid(0)


def test_what_it_writes_is_kept_in_its_log_and_shown_when_asked_for(make: Make, tmp_path: Path) -> None:
    shown: list[str] = []
    child = make("print('100 % ready'); print('and more')", show=shown.append)
    child.start()
    wait_for(child.has_ended)
    assert child.bury() == "ended with exit code 0"
    assert (tmp_path / "it.log").read_text() == "100 % ready\nand more\n"
    assert shown == ["it: 100 % ready", "it: and more"]


def test_a_failure_is_told_with_its_last_words(make: Make) -> None:
    child = make("raise SystemExit('no such table')")
    child.start()
    wait_for(child.has_ended)
    assert child.bury() == "ended with exit code 1: no such table"


def test_a_kill_is_told_by_its_name(make: Make) -> None:
    child = make("import time; time.sleep(60)")
    os.kill(child.start(), signal.SIGKILL)
    wait_for(child.has_ended)
    assert child.bury() == "was killed by SIGKILL"
    assert child.group is None


def test_its_descendants_end_with_it(make: Make, tmp_path: Path) -> None:
    child = make(
        "import os, time\n"
        f"pid = os.fork()\nif pid: open({str(tmp_path / 'pid')!r}, 'w').write(str(pid))\n"
        "time.sleep(60)"
    )
    group = child.start()
    wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    descendant = int((tmp_path / "pid").read_text())
    os.kill(group, signal.SIGKILL)
    wait_for(child.has_ended)
    assert is_alive(descendant)
    child.bury()
    wait_for(lambda: not is_alive(descendant))


def test_quick_deaths_are_answered_with_growing_pauses_up_to_five_seconds(make: Make) -> None:
    child = make("")
    pauses = []
    for _ in range(9):
        child.start()
        wait_for(child.has_ended)
        child.bury()
        pauses.append(child.pause_seconds())
    assert pauses == [0.5, 1, 2, 4, 5, 5, 5, 5, 5]
    assert child.start_again_at == pytest.approx(time.monotonic() + 5, abs=1)


def test_after_a_steady_life_a_child_is_started_again_at_once(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "STEADY_SECONDS", 0.0)
    child = make("")
    child.quick_deaths = 5
    child.start()
    wait_for(child.has_ended)
    child.bury()
    assert child.pause_seconds() == 0


def test_asking_to_stop_reaches_the_process_itself_which_may_end_in_order(make: Make, tmp_path: Path) -> None:
    child = make(
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n"
        f"open({str(tmp_path / 'up')!r}, 'w')\ntime.sleep(60)"
    )
    child.start()
    wait_for((tmp_path / "up").exists)
    child.ask_to_stop()
    wait_for(child.has_ended)
    assert child.bury() == "ended with exit code 0"


def test_a_log_that_cannot_be_written_does_not_stop_the_child(make: Make, tmp_path: Path) -> None:
    (tmp_path / "it.log").symlink_to("/dev/full")
    child = make("print('x' * 100000, flush=True); print('done')")
    child.start()
    wait_for(child.has_ended)
    assert child.bury() == "ended with exit code 0"
