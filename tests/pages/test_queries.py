"""Every page asks the database the same number of questions, however large the cluster is."""

from collections.abc import Callable
from datetime import datetime

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from scaling.models import Action, Group
from scaling.testing import builders

SMALL, LARGE = 2, 25
# The most questions a page may ask, sign-in and frame included.
PAGES = {
    "/": 26,
    "/groups/": 14,
    "/groups/g-0/": 29,
    "/groups/g-0/drain/": 32,
    "/groups/g-0/limits/": 12,
    "/slices/s-0-0/": 24,
    "/search/?q=g-": 19,
    "/demand/": 17,
    "/demand/demo:j-0/": 32,
    "/stockouts/": 15,
    "/actions/": 13,
    "/actions/{first}/": 18,
    "/settings/": 23,
}


def fill(now: datetime, first: int, size: int) -> None:
    """`size` more groups, each with slices, tasks, jobs, hints, markers and actions."""
    for number in range(first, first + size):
        group = builders.make_group(f"g-{number}")
        builders.make_status(group, now, "STOCKOUT" if number % 3 == 0 else "AVAILABLE")
        builders.make_marker(group, now)
        builders.make_marker(group, now, "quota", closed_at=now)
        job = builders.make_job(now, f"j-{number}")
        builders.make_hint(job, now, blocked_by=[{"group": f"g-{number}", "outcome": "STOCKOUT", "until": None}])
        for index in range(2):
            row = builders.make_slice(group, now, name=f"s-{number}-{index}", idle=None)
            builders.make_task(job, row.workers.get(), now)
        cause = builders.make_action("scale_up", now, group=group.name, slice=f"s-{number}-0")
        builders.make_action("slice_ready", now, group=group.name, slice=f"s-{number}-0", cause=cause)
    for index in range(size):
        builders.make_slice(Group.objects.get(name="g-0"), now, name=f"extra-{first}-{index}", idle=None)


def count(client: Client, path: str) -> tuple[int, list[str]]:
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert client.get(path).status_code == 200
    return len(asked), [query["sql"][:140] for query in asked]


@pytest.mark.django_db
def test_no_page_asks_more_of_a_larger_cluster(now: datetime, sign_in: Callable[[str], Client]) -> None:
    builders.make_installation()
    builders.make_cycle(now)
    for name in ("autoscaler", "scheduler"):
        builders.make_loop(name, now)
    fill(now, 0, SMALL)
    client = sign_in("operator")
    admin = sign_in("admin")
    first = Action.objects.order_by("id").first()
    assert first is not None
    asked = {}
    for path, most in PAGES.items():
        visitor = admin if "limits" in path else client
        asked[path] = count(visitor, path.format(first=first.pk))
        assert asked[path][0] <= most, (path, *asked[path][1])
    fill(now, SMALL, LARGE)
    for path in PAGES:
        visitor = admin if "limits" in path else client
        number, queries = count(visitor, path.format(first=first.pk))
        assert number <= asked[path][0], (path, asked[path][0], number, *queries)


@pytest.mark.django_db
def test_lists_leave_what_they_do_not_show(now: datetime, sign_in: Callable[[str], Client]) -> None:
    builders.make_installation()
    fill(now, 0, 1)
    client = sign_in("viewer")
    for path, columns in {
        "/demand/": ['"scaling_job"."spec"'],
        "/actions/": ['"scaling_action"."before"', '"scaling_action"."after"'],
        "/groups/": ['"scaling_groupstatus"."detail"', '"scaling_groupstatus"."slices"'],
        "/": ['"scaling_job"."spec"', '"scaling_groupstatus"."detail"'],
    }.items():
        with CaptureQueriesContext(connection) as asked:
            client.get(path)
        sql = " ".join(query["sql"] for query in asked)
        assert [column for column in columns if column in sql] == [], path
