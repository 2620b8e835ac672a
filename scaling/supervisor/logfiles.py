"""Each child's output: into a rotating file, and onto the terminal when that was asked for."""

import io
import logging
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO

FILE_BYTES = 5 * 1024 * 1024
FILES_KEPT = 4


class _Files(RotatingFileHandler):
    def handleError(self, record: logging.LogRecord) -> None:
        """A full disk must not stop the child, and has no better place to be told than the log itself."""


class OutputCopier(threading.Thread):
    """Copies what a child writes, line by line, until it and all its descendants have closed their end."""

    def __init__(self, name: str, source: IO[bytes], path: Path, show: Callable[[str], None] | None) -> None:
        super().__init__(name=f"output-{name}", daemon=True)
        self._name, self._source, self._path, self._show = name, source, path, show
        self._last: deque[str] = deque(maxlen=20)

    def run(self) -> None:
        files = _Files(self._path, maxBytes=FILE_BYTES, backupCount=FILES_KEPT, encoding="utf-8", delay=True)
        with io.TextIOWrapper(self._source, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                text = line.rstrip("\n")
                self._last.append(text)
                files.emit(logging.makeLogRecord({"msg": text}))
                if self._show:
                    self._show(f"{self._name}: {text}")
        with suppress(OSError):
            files.close()

    def last_words(self) -> str:
        """The last line that says something: of an unhandled error, its type and text."""
        return next((line.strip() for line in reversed(self._last) if line.strip()), "")
