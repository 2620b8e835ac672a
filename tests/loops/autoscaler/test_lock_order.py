"""The order of locks, seen in what each transaction asks of PostgreSQL: two that kept it can't wait for each other."""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scaling import operations
from scaling.cluster_import import import_cluster
from scaling.clusterfile import read_cluster
from scaling.history import Actor
from scaling.models import Group, QuotaPool
from scaling.operations.edit_locks import lock_for_edits
from scaling.testing import builders
from tests.clusterfile.files import small
from tests.loops.autoscaler.conftest import ControlPlane

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

# As docs/architecture.md has it, each with what several rows of it are ordered by.
ORDER = {
    "installation": "",
    "group": "name",
    "marker": "id",
    "quotapool": "name",
    "slice": "name",
    "job": "id",
    "groupstatus": "",
}
ADA = Actor.user("ada")


def transactions(act: Callable[[], object]) -> Iterator[list[str]]:
    """The statements of each transaction that `act` makes, itself within one of the test's."""
    with CaptureQueriesContext(connection) as asked:
        act()
    depth, statements = 0, list[str]()
    for text in (one["sql"] for one in asked):
        depth += text.startswith("SAVEPOINT") - text.startswith(("RELEASE", "ROLLBACK TO"))
        statements.append(text)
        if depth == 0:
            yield statements
            statements = []


def locked(statements: list[str]) -> list[str]:
    """The kinds of rows in the order in which each is locked first; the order of several rows is checked."""
    kinds = []
    for text in statements:
        asked = re.search(r"FOR (?:NO KEY )?UPDATE", text)
        kind = re.search(r'(?:FROM|UPDATE) "scaling_(\w+)"', text)
        if kind is None or not (asked or text.startswith("UPDATE")) or kind[1] not in ORDER:
            continue
        kinds.append(kind[1])
        if asked and " LIMIT " not in text and ORDER[kind[1]]:
            # Where the key is the first of the columns asked for, its place stands for it.
            assert re.search(rf'ORDER BY (?:"scaling_{kind[1]}"\."{ORDER[kind[1]]}"|1) ASC', text), text
    return list(dict.fromkeys(kinds))


def check(act: Callable[[], object], *expected: str) -> None:
    """Every transaction keeps the order, and together they lock what the act is known to lock."""
    seen = set()
    for statements in transactions(act):
        kinds = locked(statements)
        places = [list(ORDER).index(kind) for kind in kinds]
        assert all(one < other for one, other in pairwise(places)), kinds
        seen |= set(kinds)
    assert seen >= set(expected)


@pytest.fixture
def group(iris: ControlPlane) -> Group:
    """One that buys a slice, beside a permanent failure of another kind of its own."""
    for name in ("p", "q"):
        QuotaPool.objects.create(name=name, limit=64)
    return builders.make_group(
        "g", platform=iris.row, quota_pool=QuotaPool.objects.get(name="p"), min_slices=1, device_type="tpu"
    )


def test_an_edit_locks_the_group_its_markers_and_then_the_pool(iris: ControlPlane, group: Group) -> None:
    builders.make_marker(group, iris.clock(), kind="permanent", until=None)
    edit = lambda: operations.set_group_limits(ADA, "g", 1, {"quota_pool": "q", "max_slices": 9})  # noqa: E731
    iris.cycle()
    check(edit, "group", "marker", "quotapool", "groupstatus")
    check(lambda: lock_for_edits([(group, {"quota_pool": "p"})]), "group", "marker", "quotapool")


def test_a_cycle_and_a_failed_create_keep_the_order_too(iris: ControlPlane, group: Group) -> None:
    builders.make_marker(group, iris.clock(), kind="backoff", until=iris.clock())
    iris.platform.fail("create", "Quota 'TPUS' exceeded. Limit: 8.0 in region us-east5.")
    check(iris.cycle, "installation", "group", "marker", "quotapool", "slice", "groupstatus")
    iris.later(600)
    check(iris.cycle, "installation", "group", "marker", "quotapool")


def test_an_import_keeps_the_order_too(iris: ControlPlane) -> None:
    import_cluster(ADA, read_cluster(small()))
    edited = Group.objects.exclude(name="g").order_by("name")[0]
    builders.make_marker(edited, iris.clock(), kind="permanent", until=None)
    Group.objects.filter(pk=edited.pk).update(max_slices=1)
    check(lambda: import_cluster(ADA, read_cluster(small())), "installation", "group", "marker")
