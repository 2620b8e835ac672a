"""A killed process does not keep its lease; one that may live does."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from scaling.loops import holders, leases
from scaling.models import Lease

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells who is dead")


def named(pid: int) -> str:
    return f"{holders.me().rpartition(':')[0]}:{pid}"


@pytest.fixture
def dead_pid() -> Iterator[int]:
    process = subprocess.Popen(["true"])
    process.wait()
    yield process.pid


@pytest.fixture
def unburied_pid() -> Iterator[int]:
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    yield process.pid
    process.wait()


def test_this_process_is_alive() -> None:
    assert holders.me().endswith(f":{os.getpid()}")
    assert not holders.is_dead(holders.me())


def test_a_process_that_ended_is_dead(dead_pid: int) -> None:
    assert holders.is_dead(named(dead_pid))


def test_a_killed_process_that_its_parent_has_not_buried_is_dead(unburied_pid: int) -> None:
    assert holders.is_dead(named(unburied_pid))


@pytest.mark.parametrize("holder", ["", "test", "somewhere:{pid}", "somewhere:12345678-1:{pid}", "{here}:", "{here}:x"])
def test_who_is_not_of_this_machine_is_not_known_to_be_dead(holder: str, dead_pid: int) -> None:
    here = holders.me().rpartition(":")[0]
    assert not holders.is_dead(holder.format(pid=dead_pid, here=here))


def test_the_name_of_a_holder_fits_its_column() -> None:
    assert len(holders.me()) <= (Lease._meta.get_field("holder").max_length or 0)


@pytest.mark.django_db
def test_the_lease_of_a_dead_process_is_taken_at_once_with_a_larger_token(dead_pid: int) -> None:
    leases.hold("cycle", named(dead_pid), 15, NOW)
    held = holders.take("cycle", 15, NOW + timedelta(seconds=1))
    assert held is not None
    assert (held.holder, held.token) == (holders.me(), 2)


@pytest.mark.django_db
def test_the_lease_of_a_living_process_is_left_to_it_until_it_runs_out() -> None:
    leases.hold("cycle", named(os.getppid()), 15, NOW)
    assert holders.take("cycle", 15, NOW + timedelta(seconds=14)) is None
    assert holders.take("cycle", 15, NOW + timedelta(seconds=15)) is not None


@pytest.mark.django_db
def test_a_lease_that_somebody_took_from_the_dead_meanwhile_is_left_to_them(dead_pid: int) -> None:
    leases.hold("cycle", "living", 15, NOW)
    assert not leases.end("cycle", named(dead_pid), NOW)
    assert leases.hold("cycle", "another", 15, NOW) is None
