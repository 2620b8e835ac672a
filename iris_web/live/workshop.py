"""A few threads that may use the database, for code that lives in the event loop."""

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from django.db import close_old_connections, connections

T = TypeVar("T")
_Job = tuple[Callable[[], Any], asyncio.AbstractEventLoop, "asyncio.Future[Any]"]


class Workshop:
    """Runs functions in its threads, first come first served; database connections close with the threads."""

    def __init__(self, name: str, threads: int) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True) for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    async def run(self, work: Callable[..., T], *given: Any) -> T:
        """The result of `work(*given)`, or its exception, without holding up the event loop."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._jobs.put((lambda: work(*given), loop, future))
        return await future

    def stop(self, timeout_seconds: float = 5.0) -> None:
        """Let the threads end after the jobs that wait already."""
        for _ in self._threads:
            self._jobs.put(None)
        deadline = time.monotonic() + timeout_seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            work, loop, future = job
            if future.cancelled():
                continue
            close_old_connections()
            try:
                result, error = work(), None
            except Exception as raised:
                result, error = None, raised
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(_settle, future, result, error)
        connections.close_all()


def _settle(future: "asyncio.Future[Any]", result: Any, error: Exception | None) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)
