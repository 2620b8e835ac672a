"""A lease has one holder, and whoever lost it cannot write."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from django.db import connection, transaction

from scaling.loops import leases
from scaling.loops.leases import Held, LeaseLost
from scaling.models import Lease

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


@pytest.mark.django_db
def test_the_first_holder_gets_the_lease_and_a_second_gets_none() -> None:
    held = leases.hold("cycle", "a", 15, NOW)
    assert held == Held("cycle", "a", 1, later(15))
    assert leases.hold("cycle", "b", 15, later(1)) is None


@pytest.mark.django_db
def test_renewing_extends_the_lease_and_keeps_the_token() -> None:
    leases.hold("cycle", "a", 15, NOW)
    assert leases.hold("cycle", "a", 15, later(10)) == Held("cycle", "a", 1, later(25))
    assert leases.hold("cycle", "b", 15, later(20)) is None


@pytest.mark.django_db
def test_a_lease_is_over_at_exactly_its_expiry_and_the_next_holder_has_a_larger_token() -> None:
    leases.hold("cycle", "a", 15, NOW)
    assert leases.hold("cycle", "b", 15, later(15) - timedelta(microseconds=1)) is None
    assert leases.hold("cycle", "b", 15, later(15)) == Held("cycle", "b", 2, later(30))
    assert leases.hold("cycle", "a", 15, later(16)) is None


@pytest.mark.django_db
def test_a_holder_who_comes_back_after_expiry_is_a_new_holder() -> None:
    leases.hold("cycle", "a", 15, NOW)
    again = leases.hold("cycle", "a", 15, later(60))
    assert again is not None
    assert again.token == 2


@pytest.mark.django_db
def test_a_released_lease_is_free_at_once_and_fences_its_old_holder_out() -> None:
    held = leases.hold("cycle", "a", 15, NOW)
    assert held is not None
    assert leases.release(held)
    assert not leases.release(held)
    with transaction.atomic(), pytest.raises(LeaseLost):
        leases.fence("cycle", held.token)
    assert leases.hold("cycle", "b", 15, later(1)) == Held("cycle", "b", 2, later(16))


@pytest.mark.django_db
def test_releasing_a_lease_that_was_taken_over_leaves_the_new_holder_alone() -> None:
    held = leases.hold("cycle", "a", 15, NOW)
    leases.hold("cycle", "b", 15, later(20))
    assert held is not None
    assert not leases.release(held)
    assert Lease.objects.get(name="cycle").holder == "b"


@pytest.mark.django_db
def test_a_stale_holder_is_fenced_out() -> None:
    leases.hold("cycle", "a", 15, NOW)
    leases.hold("cycle", "b", 15, later(20))
    with transaction.atomic(), pytest.raises(LeaseLost, match="token 1"):
        leases.fence("cycle", 1)
    with transaction.atomic():
        leases.fence("cycle", 2)


@pytest.mark.django_db
def test_an_expired_lease_that_nobody_took_still_lets_its_holder_finish() -> None:
    leases.hold("cycle", "a", 15, NOW - timedelta(hours=1))
    with transaction.atomic():
        leases.fence("cycle", 1)


@pytest.mark.django_db(transaction=True)
def test_a_fence_outside_a_transaction_is_a_mistake_in_the_code() -> None:
    with pytest.raises(RuntimeError):
        leases.fence("cycle", 1)


@pytest.mark.django_db
def test_leases_of_other_names_are_independent() -> None:
    leases.hold("cycle", "a", 15, NOW)
    assert leases.hold("platform:gcp", "b", 15, NOW) == Held("platform:gcp", "b", 1, later(15))


@pytest.mark.django_db
def test_a_holder_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="holder"):
        leases.hold("cycle", "", 15, NOW)


@pytest.mark.django_db(transaction=True)
def test_of_many_racing_for_a_free_lease_exactly_one_wins() -> None:
    racers = 8
    barrier = Barrier(racers)

    def race(round_number: int, racer: int) -> Held | None:
        barrier.wait()
        try:
            return leases.hold("race", f"racer-{racer}", 10, later(round_number * 10))
        finally:
            connection.close()

    with ThreadPoolExecutor(racers) as pool:
        for number in range(6):
            won = [held for held in pool.map(race, [number] * racers, range(racers)) if held]
            assert [held.token for held in won] == [number + 1]


@pytest.mark.django_db(transaction=True)
def test_a_takeover_waits_for_a_fenced_transaction_to_commit() -> None:
    """Between the fence and the commit nobody can become the holder, so no write of two holders interleaves."""
    leases.hold("cycle", "a", 15, NOW)

    def take_over() -> Held | None:
        try:
            return leases.hold("cycle", "b", 15, later(60))
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            leases.fence("cycle", 1)
            taking = pool.submit(take_over)
            with pytest.raises(TimeoutError):
                taking.result(timeout=0.3)
        held = taking.result(timeout=10)
    assert held is not None
    assert held.token == 2
