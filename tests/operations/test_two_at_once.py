"""Two people, or two schedulers, at the same moment: over real connections, on either database."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from scaling import operations
from scaling.history import Actor
from scaling.models import Action, Group, Job
from scaling.testing.builders import make_group

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
    assert all(f"changed by {winner}" in str(loser) for loser in losers)


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
