"""Two people, or two schedulers, at the same moment: over real connections, on either database."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from scaling import operations, people
from scaling.history import Actor
from scaling.loops.scheduler.rows import locked_jobs
from scaling.models import Action, Group, Hint, Job
from scaling.operations import demand
from scaling.testing.builders import make_group, make_hint, make_job, make_user

pytestmark = pytest.mark.django_db(transaction=True)


def _together(*calls: Callable[[], Any]) -> list[Any]:
    """Run the calls at once, each in its own thread and connection; their results, or what they raised."""
    barrier = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            barrier.wait(10)
            return call()
        except operations.OperationError as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_of_two_editors_one_wins_and_the_other_is_told_who(db: None) -> None:
    make_group("g", max_slices=8)

    def edit(name: str, limit: int) -> Callable[[], Any]:
        return lambda: operations.set_group_limits(Actor.user(name), "g", 1, {"max_slices": limit})

    told = _together(*(edit(f"editor-{n}", 10 + n) for n in range(4)))
    winners = [one for one in told if isinstance(one, Group)]
    losers = [one for one in told if isinstance(one, operations.StaleVersion)]
    assert (len(winners), len(losers)) == (1, 3)
    stored = Group.objects.get(name="g")
    assert (stored.max_slices, stored.version) == (winners[0].max_slices, 2)
    winner = Action.objects.get(kind="set_limits").actor
    assert all(f"{winner} changed Max slices" in str(loser) for loser in losers)


def test_of_two_drains_without_a_version_the_second_is_refused(db: None) -> None:
    make_group("g")
    told = _together(*(lambda: operations.drain_group(Actor.user("ada"), "g") for _ in range(3)))
    assert sum(isinstance(one, Group) for one in told) == 1
    assert sum("draining already" in str(one) for one in told) == 2


def test_two_lists_of_one_source_end_as_one_of_them(actor: Actor) -> None:
    def put(ids: str) -> Callable[[], Any]:
        return lambda: operations.put_demand(actor, "slurm", [{"id": job_id} for job_id in ids])

    for _ in range(5):
        told = _together(put("abcd"), put("cdef"), put("abcd"))
        assert all(isinstance(one, operations.DemandReport) for one in told), told
        waiting = "".join(sorted(Job.objects.filter(state="pending").values_list("job_id", flat=True)))
        assert waiting in ("abcd", "cdef")


def test_lists_of_several_sources_do_not_wait_for_each_other_in_vain(actor: Actor) -> None:
    def put(source: str) -> Callable[[], Any]:
        return lambda: operations.put_demand(actor, source, [{"id": f"j{n}"} for n in range(200)])

    told = _together(*(put(f"source-{n}") for n in range(4)))
    assert [one.added for one in told] == [200] * 4


def test_two_admins_who_take_each_others_role_leave_one_of_them() -> None:
    def demote(by: str, other: User) -> Callable[[], Any]:
        return lambda: people.save_person(Actor.user(by), other, "viewer")

    for _ in range(5):
        User.objects.all().delete()
        ada, bob = (User.objects.get(pk=make_user(name, "admin").pk) for name in ("ada", "bob"))
        told = _together(demote("ada", bob), demote("bob", ada))
        assert sum(isinstance(one, operations.OperationRefused) for one in told) == 1, told
        assert User.objects.filter(groups__name="admin").count() == 1


def test_of_names_that_look_alike_only_one_is_given(actor: Actor) -> None:
    def token(name: str) -> Callable[[], Any]:
        return lambda: operations.create_token(actor, name, "viewer")

    told = _together(token("Ci"), token("ci"), lambda: people.save_person(actor, User(username="CI"), ""))
    assert sum("looks like" in str(one) for one in told) == 2, told


@pytest.mark.postgres
def test_a_cycle_stores_the_hint_of_a_job_that_a_list_or_a_round_has_locked() -> None:
    job = make_job(datetime(2026, 1, 1, tzinfo=UTC))
    for lock in (lambda: locked_jobs({job.pk}), lambda: list(demand._locked([job.pk]))):
        Hint.objects.all().delete()

        def store_hint() -> None:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '2s'")
                make_hint(job, datetime(2026, 1, 1, tzinfo=UTC))

        with transaction.atomic():
            lock()
            _together(store_hint)
        assert Hint.objects.filter(job=job).exists()
