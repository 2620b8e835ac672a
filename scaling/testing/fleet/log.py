"""Every call to scale that the Gateway got, with its time: what tests prove things by. Kept in a file as well."""

import json
from collections import deque
from pathlib import Path
from typing import Any

FILE_NAME = "scale-log.jsonl"
MOST_CALLS = 100_000


class ScaleLog:
    """The calls in their order, numbered from 1 on over restarts."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._calls: deque[dict[str, Any]] = deque(_read(self._path), maxlen=MOST_CALLS)
        self._file = self._path.open("a")

    def add(self, at: float, call: Any, status: str, started: list[str]) -> None:
        """`status` is the HTTP status it was answered with, or the fault that left it without; `started` new ids."""
        number = self._calls[-1]["number"] + 1 if self._calls else 1
        entry = {"number": number, "at": at, "call": call, "status": status, "started": started}
        self._calls.append(entry)
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()

    def since(self, number: int) -> list[dict[str, Any]]:
        """The calls after that number."""
        return [call for call in self._calls if call["number"] > number]

    def close(self) -> None:
        self._file.close()


def _read(path: Path) -> list[dict[str, Any]]:
    """The calls of earlier runs; a last line that was cut off by a kill is left out."""
    calls = []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            calls.append(json.loads(line))
        except ValueError:
            continue
    return calls
