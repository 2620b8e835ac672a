"""Telling living processes from dead ones."""

import os
import subprocess

from scaling.loops.processes import lives


def test_this_process_and_the_first_one_live() -> None:
    assert lives(os.getpid())
    assert lives(1)


def test_a_process_is_dead_before_and_after_its_parent_buries_it() -> None:
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not lives(process.pid)
    process.wait()
    assert not lives(process.pid)
