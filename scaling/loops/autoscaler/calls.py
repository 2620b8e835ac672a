"""Runs many blocking calls to a platform side by side within one task.

One task per platform and kind is under way at a time, each taking a wave of calls and then queuing its successor, so
that a slow cloud never stands between the loops and their workers.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import TypeVar

from django.db import connections

# Calls at once in one task; each takes at most IRIS_PLATFORM_TIMEOUT, so a wave ends within the queue's time-out.
WAVE = 16

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def side_by_side(call: Callable[[Item], Answer], items: Sequence[Item]) -> Iterator[tuple[Item, Answer]]:
    """`(item, call(item))` of each item as its answer comes; the calls run in threads, the caller saves in its own."""
    if not items:
        return
    with ThreadPoolExecutor(max_workers=len(items), thread_name_prefix="call") as pool:
        asked: dict[Future[Answer], Item] = {pool.submit(_in_thread, call, item): item for item in items}
        for future in as_completed(asked):
            yield asked[future], future.result()


def _in_thread(call: Callable[[Item], Answer], item: Item) -> Answer:
    try:
        return call(item)
    finally:
        connections.close_all()
