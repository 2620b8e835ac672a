"""The guardian: when its supervisor dies, however, the process groups it was told of end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scaling.supervisor import guardian
from scaling.supervisor.guard import Guard
from tests.supervisor.test_children import is_alive, wait_for

pytestmark = pytest.mark.processes

SLEEP = (sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)")
STUBBORN = (
    sys.executable, "-I", "-S", "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)",
)  # fmt: skip


def group(command: tuple[str, ...] = SLEEP) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE)


def test_groups_are_those_added_and_not_removed() -> None:
    assert guardian.read_groups(["+12\n", "+13\n", "-12\n", "", "nonsense\n", "+x\n"]) == {13}


def test_an_orderly_end_leaves_what_was_removed_alone() -> None:
    kept = group()
    guard = Guard()
    guard.add(kept.pid)
    guard.remove(kept.pid)
    guard.close()
    assert kept.poll() is None
    kept.kill()
    kept.wait()


def test_the_groups_of_a_killed_supervisor_end_also_stubborn_ones(tmp_path: Path) -> None:
    willing, stubborn = group(), group(STUBBORN)
    assert stubborn.stdout is not None
    stubborn.stdout.readline()
    code = (
        "import time\nfrom scaling.supervisor.guard import Guard\nguard = Guard()\n"
        f"guard.add({willing.pid}); guard.add({stubborn.pid})\nprint('told', flush=True)\ntime.sleep(60)"
    )
    supervisor = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert supervisor.stdout is not None
    assert supervisor.stdout.readline() == b"told\n"
    supervisor.kill()
    supervisor.wait()
    killed = time.monotonic()
    assert willing.wait(15) == -signal.SIGTERM
    assert stubborn.wait(15) == -signal.SIGKILL
    assert time.monotonic() - killed < 15


def test_a_killed_guardian_is_replaced_and_told_everything_again() -> None:
    kept = group()
    guard = Guard()
    guard.add(kept.pid)
    first = guard._process.pid
    os.kill(first, signal.SIGKILL)
    guard._process.wait()
    guard.add(kept.pid)
    guard.look()
    assert guard._process.pid != first
    guard.close()
    assert kept.wait(5) == -signal.SIGTERM
    wait_for(lambda: not is_alive(guard._process.pid))
