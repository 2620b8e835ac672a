"""Answers are saved beside a cycle that stores: neither waits for the other's locks until the database gives one up."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from scaling import clock
from scaling.loops.autoscaler import creates, deletes, snapshot, still_holds
from scaling.models import Slice
from scaling.testing import builders

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


def create_answered(row: Slice) -> None:
    creates._save(row, None)


def delete_answered(row: Slice) -> None:
    deletes._save(row.name)


def delete_refused(row: Slice) -> None:
    deletes._save_failure(row.name, "503 from the API")


@pytest.mark.parametrize(
    ("save", "state"),
    [
        (create_answered, "REQUESTING"),
        (delete_answered, "DRAINING"),
        (delete_answered, "FAILED"),
        (delete_refused, "DRAINING"),
    ],
)
def test_an_answer_is_saved_while_a_cycle_holds_the_groups(save: Callable[[Slice], None], state: str) -> None:
    builders.make_installation()
    group = builders.make_group("v5p")
    asked = {} if state == "REQUESTING" else {"delete_asked_at": clock.now()}
    row = builders.make_slice(group, clock.now(), state=state, attempts=1, **asked)
    before = snapshot.read()

    def in_thread() -> None:
        try:
            save(row)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        still_holds._groups(before)
        pool.submit(in_thread).result(timeout=10)
