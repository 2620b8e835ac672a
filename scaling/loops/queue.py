"""The one door to the task queue: every task of Iris is queued here."""

import inspect
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db import transaction
from django_q.brokers import Broker, get_broker
from django_q.models import OrmQ
from django_q.tasks import async_task

REDIS_PATIENCE = timedelta(minutes=1)
SAME_MOMENT = timedelta(seconds=1)


def enqueue(task: Callable[..., object], *args: Any, timeout_seconds: int | None = None) -> None:
    """Queue `task(*args)`: in the caller's transaction with the database as the queue, after its commit with Redis.

    A task must be a plain function of a module, since the queue stores its name; an `async def` would fail there in
    silence, so it is refused here. Whole seconds only: the queue's alarm takes an integer. A task may run twice (a
    fetched one comes back when its worker dies), so each is idempotent.
    """
    options: dict[str, int] = {} if timeout_seconds is None else {"timeout": _whole(timeout_seconds)}
    name = task_name(task)
    if settings.BROKER_URL:
        transaction.on_commit(lambda: _send(name, args, options))
    else:
        _send(name, args, options)


def _send(name: str, args: tuple[Any, ...], options: dict[str, int]) -> None:
    async_task(name, *args, q_options={**options, "broker": _broker()})  # type: ignore[no-untyped-call]


def _whole(seconds: int) -> int:
    if not isinstance(seconds, int) or seconds < 1:
        raise TypeError(f"timeout_seconds: expected a whole number from 1, got {seconds!r}")
    return seconds


def task_name(task: Callable[..., object]) -> str:
    """The dotted name a worker finds `task` by; TypeError for what cannot run there."""
    if not inspect.isfunction(task) or task.__qualname__ != task.__name__ or not task.__name__.isidentifier():
        raise TypeError(f"{task!r}: expected a function of a module")
    if inspect.iscoroutinefunction(task) or inspect.isasyncgenfunction(task):
        raise TypeError(f"{task.__module__}.{task.__name__}: expected a plain function, got an async one")
    return f"{task.__module__}.{task.__name__}"


@lru_cache(maxsize=1)
def _broker() -> Broker:
    # Kept: with Redis each new broker would open a connection of its own.
    return get_broker()


def may_still_wait(since: datetime, now: datetime) -> bool:
    """Whether a task queued at `since` may wait for a worker to fetch it.

    Queues are first in, first out: with the database, it waits only while a task as old as it does. Redis shows no
    more than the length, which is believed for a minute.
    """
    if settings.BROKER_URL:
        waiting = int(_broker().queue_size())  # type: ignore[no-untyped-call]
        return waiting > 0 and now - since < REDIS_PATIENCE
    # An unfetched row's `lock` is when it was queued; a fetched one's lies ahead.
    return OrmQ.objects.filter(key=_broker().list_key, lock__lte=min(since + SAME_MOMENT, now)).exists()
