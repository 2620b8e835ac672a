"""Marks on this machine that tell the supervisor what its task queue is doing, without a row for each task.

In the folder that IRIS_MARKS names, each process of the queue keeps one file while it runs a task. The folder's own
time is then the last sign of life, and what the files name was lost if the queue is killed.
"""

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from django_q.signals import post_execute_in_worker, pre_execute

from scaling.loops import tasks
from scaling.loops.processes import lives
from scaling.loops.queue import task_name

FOLDER = "IRIS_MARKS"
# Made with the first task; its name is no process's.
USED = "used"


def install() -> None:
    """Keep marks in this process and those forked from it, where a supervisor asks for them."""
    folder = os.environ.get(FOLDER, "")
    if not folder:
        return
    keeper = _Keeper(Path(folder))
    # Strong references: signals keep weak ones, and nothing else holds the keeper.
    pre_execute.connect(keeper.begin, weak=False, dispatch_uid="iris-mark-begin")
    post_execute_in_worker.connect(keeper.end, weak=False, dispatch_uid="iris-mark-end")


class _Keeper:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._used = False

    def begin(self, task: dict[str, Any], **_: Any) -> None:
        words = [task["func"], *task["args"]] if isinstance(task["func"], str) else []
        with suppress(OSError):
            self._note_use()
            self._file().write_text(json.dumps(words, default=str))

    def _note_use(self) -> None:
        if not self._used:
            (self._folder / USED).touch()
            self._used = True

    def end(self, **_: Any) -> None:
        with suppress(OSError):
            self._file().unlink()

    def _file(self) -> Path:
        return self._folder / str(os.getpid())


def is_used(folder: Path) -> bool:
    """Whether any task has begun since the folder was made."""
    return (folder / USED).exists()


def silent_seconds(folder: Path) -> float:
    """How long ago a task began or ended."""
    return time.time() - folder.stat().st_mtime


def busy(folder: Path, limit_seconds: float) -> bool:
    """Whether a living process runs a task that began less than `limit_seconds` ago."""
    now = time.time()
    return any(_lives(path) and now - path.stat().st_mtime < limit_seconds for path in _marks(folder))


def overdue(folder: Path, limit_seconds: float) -> bool:
    """Whether a living process has held on to one task for `limit_seconds` or longer."""
    now = time.time()
    return any(_lives(path) and now - path.stat().st_mtime >= limit_seconds for path in _marks(folder))


def collect_dead(folder: Path) -> list[tuple[str, int]]:
    """Remove the marks of processes that died within a task; returns (loop, round) of each round among those tasks."""
    dead = [path for path in _marks(folder) if not _lives(path)]
    found = [round_ for path in dead if (round_ := _round(path))]
    for path in dead:
        path.unlink(missing_ok=True)
    return found


def are_left(folder: Path) -> bool:
    """Whether any process still has its mark there."""
    return bool(_marks(folder))


def _marks(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.isdigit()]


def _lives(path: Path) -> bool:
    if not lives(int(path.name)):
        return False
    # It may have ended its task, and the mark with it, since the folder was read.
    return path.exists()


def _round(path: Path) -> tuple[str, int] | None:
    with suppress(OSError, ValueError, LookupError, TypeError):
        function, loop, number = json.loads(path.read_text())[:3]
        if function == task_name(tasks.run_loop):
            return str(loop), int(number)
    return None
