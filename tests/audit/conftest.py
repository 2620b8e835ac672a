"""A history to seal, and a hand in the database that no guard stops."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from scaling.append_only import guard, unguard
from scaling.audit import sealing
from scaling.clock import FrozenClock
from scaling.history import NewAction, record_many
from scaling.models import Action

Tamper = Callable[..., None]


@pytest.fixture
def now(frozen_clock: FrozenClock) -> datetime:
    return frozen_clock()


@contextmanager
def unguarded() -> Iterator[None]:
    """As someone who owns the database: without its triggers."""
    unguard(connection)
    try:
        yield
    finally:
        guard(connection)


@pytest.fixture
def tamper() -> Tamper:
    """`tamper("UPDATE ...", values...)` past the guard."""

    def change(sql: str, *values: Any) -> None:
        with unguarded(), connection.cursor() as cursor:
            cursor.execute(sql, values)

    return change


def write(count: int, kind: str = "scale_up") -> list[Action]:
    """`count` actions whose columns are all filled."""
    return record_many(
        [
            NewAction(
                kind,
                group=f"g-{number % 3}",
                slice=f"s-{number}",
                reason=f"deficit {number}",
                before={"ready": number / 4},
                after={"ready": number, "names": ["ä", None]},
                cycle=number,
            )
            for number in range(count)
        ]
    )


def write_after_a_hole(count: int, now: datetime, hole: int = 5) -> None:
    """`count` actions whose ids begin `hole` ids later, as after writers that gave up."""
    last = Action.objects.latest("id").pk
    Action.objects.bulk_create(Action(pk=last + hole + n, at=now, kind="scale_up") for n in range(count))
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT setval(pg_get_serial_sequence('scaling_action', 'id'), (SELECT max(id) FROM scaling_action))"
            )


@pytest.fixture
def cut(db: None, frozen_clock: FrozenClock) -> datetime:
    """Twenty old actions under two seals and ten new ones under another; the moment between."""
    write(20)
    sealing.seal_new(frozen_clock(), batch_rows=10)
    frozen_clock.advance(3600)
    between = frozen_clock()
    frozen_clock.advance(3600)
    write(10)
    sealing.seal_new(frozen_clock(), batch_rows=10)
    return between


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "old.jsonl.gz"
