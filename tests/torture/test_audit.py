"""The audit sees what it is there to see: each fault, made on purpose, is told with the slice's name."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from benchmarks.torture import audit, cluster
from benchmarks.torture.audit import Violation
from benchmarks.torture.cluster import Round
from benchmarks.torture.eye import CLOUD, Eye
from scaling import clock
from scaling.history import record
from scaling.models import Group, Installation, Orphan, Platform, Slice
from scaling.platforms.base import SliceRequest
from scaling.platforms.registry import provisioner
from scaling.platforms.simulated import PostgresStore, SqliteStore
from scaling.platforms.simulated.location import cloud_store

pytestmark = pytest.mark.django_db(transaction=True)

ROUND = Round(0, "ring-a", 1, 0)


def empty_books() -> None:
    with cloud_store().write() as transaction:
        for table in ("slices", "calls", "rules"):
            transaction.run(f"DELETE FROM {table} WHERE cloud = ?", [CLOUD])


@pytest.fixture
def eye() -> Iterator[Eye]:
    """Looks at a cluster with no slices."""
    cluster.make_cluster()
    empty_books()
    store = cloud_store()
    if isinstance(store, SqliteStore):
        made = Eye.on_sqlite(Path(connection.settings_dict["NAME"]), store.path)
    else:
        assert isinstance(store, PostgresStore)
        made = Eye(psycopg.connect(**dict(store.parameters), autocommit=True), "%s")  # type: ignore[arg-type]
    yield made
    made.close()
    empty_books()


def asked(name: str = "s", state: str = "BOOTING") -> Slice:
    group = Group.objects.get(name="ring-a")
    record("scale_up", group="ring-a", slice=name)
    return Slice.objects.create(
        name=name, group=group, platform=group.platform, state=state, attempts=1, requested_at=clock.now()
    )


def sell(name: str = "s") -> None:
    mine = Installation.objects.get().identity
    request = SliceRequest(name, "ring-a", mine, "ring-a", "tpu", "v5p-8", 4, 1, "on_demand")
    provisioner(Platform.objects.get()).create_slice(request)


def end(name: str = "s") -> None:
    provisioner(Platform.objects.get()).delete_slice(name, Installation.objects.get().identity)


def found(eye: Eye, later: float = 0.0) -> list[Violation]:
    return list(audit.audit(eye, time.time() + later, time.time() + later))


def test_a_slice_that_is_asked_for_sold_and_counted_is_right(eye: Eye) -> None:
    asked()
    sell()
    assert found(eye) == []
    assert list(audit.audit_round(eye, ROUND)) == []
    (facts,) = eye.facts()
    assert (facts.name, facts.group, facts.bought, facts.create_answered, facts.ended) == (
        "s",
        "ring-a",
        True,
        True,
        False,
    )


def test_an_intent_that_was_not_sent_is_right_for_the_books_and_missing_for_its_round(eye: Eye) -> None:
    asked(state="REQUESTING")
    assert found(eye) == []
    assert [wrong.slice for wrong in audit.audit_round(eye, ROUND)] == [""]


def forgotten() -> None:
    asked()
    sell()
    Slice.objects.update(ended_at=clock.now(), state="GONE")


def never_sold() -> None:
    asked()


def bought_twice() -> None:
    asked()
    sell()
    end()
    with cloud_store().write() as transaction:
        transaction.run("UPDATE slices SET gone_at = 0 WHERE cloud = ?", [CLOUD])
    sell()


def without_an_action() -> None:
    asked("t")
    Slice.objects.filter(name="t").update(name="s")
    sell()


def asked_twice() -> None:
    asked()
    sell()
    record("scale_up", group="ring-a", slice="s")


def released_twice() -> None:
    asked()
    sell()
    for _ in range(2):
        record("scale_down", group="ring-a", slice="s")


def said_to_have_failed() -> None:
    asked()
    sell()
    record("slice_failed", group="ring-a", slice="s")


def listed_as_an_orphan() -> None:
    Orphan.objects.create(name="s", platform=Platform.objects.get(), first_seen_at=clock.now())


def still_counted() -> None:
    asked()
    sell()
    end()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (forgotten, "is an orphan: the cloud has it"),
        (never_sold, "is a phantom"),
        (bought_twice, "was bought twice"),
        (without_an_action, "without exactly one scale_up"),
        (asked_twice, "without exactly one scale_up"),
        (released_twice, "has an action twice"),
        (said_to_have_failed, "was told to have failed"),
        (listed_as_an_orphan, "is an orphan in Iris' own list"),
        (still_counted, "is counted although it was gone"),
    ],
)
def test_every_fault_is_told(eye: Eye, fault: Callable[[], None], words: str) -> None:
    fault()
    told = [wrong for wrong in found(eye, later=60) if wrong.words.startswith(words) or words in wrong.words]
    assert [wrong.slice for wrong in told] == ["s"]


def test_one_slice_too_many_for_a_round_is_told_with_all_of_them(eye: Eye) -> None:
    for name in ("s", "t"):
        asked(name)
        sell(name)
    assert [wrong.slice for wrong in audit.audit_round(eye, ROUND)] == ["", "s", "t"]


def test_a_slice_ended_while_its_job_wants_it_is_told(eye: Eye) -> None:
    asked()
    sell()
    end()
    assert [wrong.slice for wrong in audit.audit_round(eye, ROUND)] == ["s"]


def test_a_release_that_the_cloud_was_not_told_of_is_told(eye: Eye) -> None:
    for name in ("s", "t"):
        asked(name)
        sell(name)
    end("t")
    assert [wrong.slice for wrong in audit.not_released(eye, ["s", "t"])] == ["s"]


def test_at_the_end_every_slice_has_its_whole_story(eye: Eye) -> None:
    asked()
    sell()
    assert [wrong.words for wrong in audit.told_wholly(eye)] == [
        "has not exactly one slice_ready action",
        "has not exactly one scale_down action",
    ]
