"""The scheduler beside everything else that writes the same rows: nobody waits for ever, and the books add up."""

import itertools
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from django.db import connections, transaction

from scaling.history import SYSTEM
from scaling.loops import scheduler
from scaling.models import Job, Slice, Task
from scaling.operations import put_demand
from scaling.testing.builders import make_group, make_slice
from tests.loops.test_scheduler_churn import jobs_add_up

pytestmark = pytest.mark.django_db(transaction=True)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
ROUNDS = 100
LONGEST_SECONDS = 120.0


def demand(chance: Random) -> list[dict[str, Any]]:
    """Thirty jobs, some of which come, go and change each time."""
    return [
        {
            "id": f"j-{n}",
            "resources": {"cpu": 1 + n % 2},
            "tasks": 1 + n % 3,
            "run_seconds": 3,
            "priority": chance.randint(1, 9),
        }
        for n in range(30)
        if chance.random() < 0.9
    ]


def list_demand(chance: Random) -> None:
    put_demand(SYSTEM, "test", demand(chance))
    time.sleep(0.2)


def release_idle(chance: Random) -> None:
    """As a cycle does: lock a slice, look again whether it is idle, and only then let it drain; some come back."""
    with transaction.atomic():
        rows = list(Slice.objects.select_for_update(of=("self",)).filter(state="READY").order_by("name"))
        for row in chance.sample(rows, min(2, len(rows))):
            if not Task.objects.filter(worker__slice=row, state__in=Task.ACTIVE).exists():
                Slice.objects.filter(pk=row.pk).update(state="DRAINING")
    Slice.objects.filter(state="DRAINING", name__endswith=str(chance.randint(0, 9))).update(state="READY")


def test_rounds_demand_and_releases_at_the_same_time_neither_lock_up_nor_miscount() -> None:
    group = make_group("cpu", device_type="cpu", device_variant="", devices_per_worker=0, worker_cpu=4)
    for number in range(20):
        make_slice(group, NOW, name=f"s-{number}")
    put_demand(SYSTEM, "test", demand(Random(0)))
    errors: list[BaseException] = []
    began = time.monotonic()
    # Time passes with the rounds, not with the machine's speed: a second for each.
    rounds = itertools.count(1)
    enough = threading.Event()

    def keep(act: Callable[[Random], object], seed: int) -> threading.Thread:
        def work() -> None:
            chance = Random(seed)
            try:
                while not enough.is_set() and time.monotonic() - began < LONGEST_SECONDS:
                    act(chance)
            except BaseException as error:
                errors.append(error)
                enough.set()
            finally:
                connections.close_all()

        return threading.Thread(target=work)

    def a_round(_chance: Random) -> None:
        number = next(rounds)
        scheduler.run(NOW + timedelta(seconds=number))
        if number >= ROUNDS and Job.objects.filter(state="done").exists():
            enough.set()

    acts: list[Callable[[Random], object]] = [
        a_round,
        a_round,
        list_demand,
        release_idle,
    ]
    threads = [keep(act, seed) for seed, act in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONGEST_SECONDS)
    assert errors == []
    assert not any(thread.is_alive() for thread in threads)
    assert Job.objects.filter(state="done").exists()
    assert not Task.objects.filter(state__in=Task.ACTIVE, worker__slice__state="DRAINING").exists()
    jobs_add_up()
