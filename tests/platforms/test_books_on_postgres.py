"""Books in a PostgreSQL schema: a lock that is not given back, or a server that is away, costs seconds."""

import time
from dataclasses import replace

import pytest

from scaling.platforms.base import PlatformUnreachableError
from scaling.platforms.simulated import PostgresStore
from tests.platforms.conftest import Rig

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def postgres_store(rig: Rig, lock_seconds: float) -> PostgresStore:
    assert isinstance(rig.store, PostgresStore)
    return replace(rig.store, lock_seconds=lock_seconds)


def test_whoever_waits_for_the_books_gives_up_after_a_while(rig: Rig) -> None:
    store = postgres_store(rig, 0.3)
    began = time.monotonic()
    with (
        store.write(),
        pytest.raises(PlatformUnreachableError, match="cannot be used: canceling statement due to lock timeout"),
        store.write(),
    ):
        pass
    assert time.monotonic() - began < 20
    with store.write() as transaction:
        assert transaction.run("SELECT 1 AS one") == [{"one": 1}]


def test_reading_waits_for_no_writer(rig: Rig) -> None:
    store = postgres_store(rig, 0.3)
    with store.write(), store.read() as transaction:
        assert transaction.run("SELECT 1 AS one") == [{"one": 1}]


def test_a_server_that_is_away_is_an_unreachable_platform(rig: Rig) -> None:
    store = postgres_store(rig, 1)
    parameters = dict(store.parameters) | {"host": "127.0.0.1", "port": "1"}
    with (
        pytest.raises(PlatformUnreachableError, match="books cannot be used"),
        replace(store, parameters=tuple(parameters.items())).read(),
    ):
        pass
