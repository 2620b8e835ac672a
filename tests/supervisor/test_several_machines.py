"""Outgrown: two machines on one PostgreSQL, with Redis as the queue; each has a data folder of its own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.supervisor.running import PACE, Up, alive, kill, up, within

pytestmark = [pytest.mark.processes, pytest.mark.postgres, pytest.mark.redis]

KEY = "the same secret on every machine, fifty characters long"


@pytest.fixture
def machines(tmp_path: Path, postgres_url: str, redis_url: str) -> Iterator[tuple[Up, Up]]:
    environment = {
        "DATABASE_URL": postgres_url,
        "IRIS_BROKER_URL": redis_url,
        "IRIS_SECRET_KEY": KEY,
        "IRIS_CYCLE_SECONDS": "1",
    }
    with up(tmp_path / "a", **environment) as first, up(tmp_path / "b", **environment) as second:
        yield first, second


def rows(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(query).fetchall()  # type: ignore[call-overload,no-any-return]


def finished(url: str) -> int:
    found = rows(url, "SELECT round FROM scaling_loop WHERE name = 'autoscaler' AND running_since IS NULL")
    return int(found[0][0]) if found else 0


def test_two_machines_start_at_once_share_the_work_and_one_may_die(machines: tuple[Up, Up], postgres_url: str) -> None:
    first, second = machines
    first.told("Iris is ready")
    second.told("Iris is ready")
    within(40, lambda: finished(postgres_url) >= 2, "the first cycles")
    assert rows(postgres_url, "SELECT count(*) FROM scaling_installation") == [(1,)]
    assert rows(postgres_url, "SELECT count(*) FROM auth_user") == [(1,)]
    assert len([line for machine in machines for line in machine.lines if "Password" in line]) == 1

    everything = first.everything()
    kill(first.pid)
    within(5 * PACE, lambda: not alive(everything), "the end of the first machine")
    before = finished(postgres_url)
    # A round that died with a machine counts as lost after the queue's time limit.
    within(60, lambda: finished(postgres_url) >= before + 3, "cycles on the second machine")
    cycles = rows(postgres_url, "SELECT count(*) FROM scaling_cycle")[0][0]
    assert cycles <= rows(postgres_url, "SELECT round FROM scaling_loop WHERE name = 'autoscaler'")[0][0]
