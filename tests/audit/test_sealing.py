"""Sealing: every settled action once, in batches, and none that commits late is skipped."""

import logging
import threading
from datetime import datetime

import pytest
from django.db import DatabaseError, connection, transaction

from scaling.append_only import AppendOnlyError
from scaling.audit import bounds, sealing
from scaling.audit.chain import unpack
from scaling.audit.verifying import verify
from scaling.models import Action, Seal
from tests.audit.conftest import write


def sealed_ids() -> list[int]:
    return [number for seal in Seal.objects.all() for number, _ in unpack(seal)]


@pytest.mark.django_db
def test_every_action_is_sealed_once_in_order_of_ids(now: datetime) -> None:
    rows = write(25)
    assert [seal.actions for seal in sealing.seal_new(now, batch_rows=10)] == [10, 10, 5]
    assert sealed_ids() == [row.pk for row in rows]
    more = write(3)
    assert [seal.number for seal in sealing.seal_new(now)] == [4]
    assert sealed_ids()[-3:] == [row.pk for row in more]


@pytest.mark.django_db
def test_without_anything_new_no_seal_is_made(now: datetime) -> None:
    assert sealing.seal_new(now) == []
    write(10)
    assert len(sealing.seal_new(now, batch_rows=10)) == 1
    assert sealing.seal_new(now, batch_rows=10) == []


@pytest.mark.django_db
def test_a_round_that_runs_out_of_time_leaves_the_rest_to_the_next(now: datetime) -> None:
    write(25)
    assert len(sealing.seal_new(now, batch_rows=10, budget_seconds=0)) == 1 and sealing.is_behind()
    assert len(sealing.seal_new(now, batch_rows=10)) == 2 and not sealing.is_behind()
    assert verify().actions == 25


@pytest.mark.django_db
def test_a_second_sealer_at_the_same_time_adds_nothing(now: datetime) -> None:
    write(5)
    seen = sealing.current_head()
    sealing.seal_new(now)
    stale = Seal.objects.get()
    stale.pk = 1
    assert not sealing._store(stale, seen)
    assert Seal.objects.count() == 1


@pytest.mark.django_db
def test_the_head_is_logged_with_each_round_that_sealed(now: datetime, caplog: pytest.LogCaptureFixture) -> None:
    write(5)
    with caplog.at_level(logging.INFO, logger="scaling.audit.sealing"):
        sealing.run(now)
        sealing.run(now)
    (line,) = [one for one in caplog.records if one.message == "history sealed"]
    assert line.__dict__["head"] == Seal.objects.get().hash and line.__dict__["actions"] == 5


@pytest.mark.django_db
def test_a_seal_is_never_changed(now: datetime) -> None:
    write(1)
    sealing.seal_new(now)
    with pytest.raises(AppendOnlyError):
        Seal.objects.all().delete()
    refused = pytest.raises(DatabaseError, match="scaling_seal is append-only")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE scaling_seal SET hash = 'x'")


@pytest.mark.django_db
def test_no_row_is_put_in_the_place_of_another(now: datetime) -> None:
    """SQLite removes what a REPLACE finds in its way without a trigger for deletes; PostgreSQL updates it."""
    row = write(1)[0]
    sealing.seal_new(now)
    forms = {
        "scaling_action": [
            "kind",
            "at",
            "actor_kind",
            "actor",
            "source",
            "job",
            "slice",
            "target",
            "reason",
            "outcome",
        ],
        "scaling_seal": ["at", "form", "after_id", "through_id", "actions", "entries", "previous", "hash"],
    }
    for table, key in (("scaling_action", "id"), ("scaling_seal", "number")):
        names = ", ".join([f'"{name}"' for name in ("group", *forms[table])] if key == "id" else forms[table])
        copy = f"INTO {table} ({key}, {names}) SELECT {key}, {names} FROM {table}"
        for statement in _replacing(copy, table, key):
            refused = pytest.raises(DatabaseError, match=f"{table} is append-only")
            with refused, transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(statement)
    assert Action.objects.get() == row and verify().actions == 1


def _replacing(copy: str, table: str, key: str) -> list[str]:
    if connection.vendor == "postgresql":
        return [f"INSERT {copy} ON CONFLICT ({key}) DO UPDATE SET {key} = {table}.{key}"]
    by_rowid = copy.replace(f"({key},", f"(rowid, {key},").replace(f"SELECT {key},", f"SELECT rowid, {key} + 1,")
    return [f"INSERT OR REPLACE {copy}", f"REPLACE {copy}", *([f"REPLACE {by_rowid}"] if key == "number" else [])]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_an_action_that_commits_late_is_waited_for(now: datetime) -> None:
    taken, commit = threading.Event(), threading.Event()
    late: list[Action] = []

    def slow_writer() -> None:
        try:
            with transaction.atomic():
                late.extend(write(1, "late"))
                taken.set()
                commit.wait(30)
        finally:
            connection.close()

    writer = threading.Thread(target=slow_writer)
    writer.start()
    try:
        assert taken.wait(30)
        quick = write(1, "quick")
        assert bounds.settled_id(patience_seconds=0.05) is None
        assert sealing.seal_new(now) == [], "nothing is sealed past an id that may still appear"
    finally:
        commit.set()
        writer.join()
    sealing.seal_new(now)
    assert sealed_ids() == [late[0].pk, quick[0].pk]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_an_id_that_was_given_up_leaves_no_gap_in_the_chain(now: datetime) -> None:
    write(1)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        write(3)
        _ = 1 / 0
    write(1)
    sealing.seal_new(now)
    assert verify().actions == 2
