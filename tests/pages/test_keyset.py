"""Pages by key: all rows once, in order, in both directions, whatever comes and goes meanwhile."""

from datetime import datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iris_web.pages.keyset import Key, read_page
from scaling.models import Job
from scaling.testing import builders

ORDER = (Key("priority", True), Key("submitted_at"), Key("job_id"), Key("id"))


def walk(size: int) -> list[str]:
    """Every job id, page by page to the end."""
    found: list[str] = []
    cursor = ""
    while True:
        page = read_page(Job.objects.all(), ORDER, size, after=cursor)
        found += [job.job_id for job in page.rows]
        if not page.after:
            return found
        cursor = page.after


@pytest.mark.django_db
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(jobs=st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4)), max_size=12), size=st.integers(1, 5))
def test_walking_the_pages_meets_every_row_once_in_order(now: datetime, jobs: list[tuple[int, int]], size: int) -> None:
    Job.objects.all().delete()
    for number, (priority, age) in enumerate(jobs):
        builders.make_job(now, f"j{number}", priority=priority, submitted_at=builders.before(now, age))
    expected = list(Job.objects.order_by("-priority", "submitted_at", "job_id", "id").values_list("job_id", flat=True))
    assert walk(size) == expected


@pytest.mark.django_db
def test_the_page_before_is_the_one_that_was_left(now: datetime) -> None:
    for number in range(7):
        builders.make_job(now, f"j{number}", submitted_at=builders.before(now, 100 - number))
    first = read_page(Job.objects.all(), ORDER, 3)
    second = read_page(Job.objects.all(), ORDER, 3, after=first.after)
    back = read_page(Job.objects.all(), ORDER, 3, before=second.before)
    assert [job.job_id for job in back.rows] == [job.job_id for job in first.rows] == ["j0", "j1", "j2"]
    assert back.before == "" and back.after
    last = read_page(Job.objects.all(), ORDER, 3, after=second.after)
    assert [job.job_id for job in last.rows] == ["j6"] and last.after == ""


@pytest.mark.django_db
def test_a_row_that_comes_meanwhile_moves_nothing_twice(now: datetime) -> None:
    for number in range(4):
        builders.make_job(now, f"j{number}", submitted_at=builders.before(now, 100 - number))
    first = read_page(Job.objects.all(), ORDER, 2)
    builders.make_job(now, "early", submitted_at=builders.before(now, 500))
    second = read_page(Job.objects.all(), ORDER, 2, after=first.after)
    assert [job.job_id for job in second.rows] == ["j2", "j3"]


@pytest.mark.django_db
@pytest.mark.parametrize("cursor", ["x", "!!!!", "bnVsbA", "WzFd", "W251bGwsbnVsbCxudWxsLG51bGxd", "é"])
def test_a_cursor_nobody_gave_out_is_the_first_page(cursor: str, now: datetime) -> None:
    builders.make_job(now, "j")
    assert [job.job_id for job in read_page(Job.objects.all(), ORDER, 2, after=cursor).rows] == ["j"]
