"""Runs many blocking calls to a platform side by side within one task.

One task per platform and kind is under way at a time, each taking a wave of calls and then queuing its successor, so
that a slow cloud never stands between the loops and their workers.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connections

# Calls at once in one task; each takes at most IRIS_PLATFORM_TIMEOUT, so a wave ends within the queue's time-out.
WAVE = 16

Item = TypeVar("Item")


def side_by_side(call: Callable[[Item], None], items: Sequence[Item]) -> None:
    """`call(item)` for all items at once, in threads with database connections of their own; raises the first error."""
    if not items:
        return
    with ThreadPoolExecutor(max_workers=len(items), thread_name_prefix="call") as pool:
        list(pool.map(lambda item: _in_thread(call, item), items))


def _in_thread(call: Callable[[Item], None], item: Item) -> None:
    try:
        call(item)
    finally:
        connections.close_all()
