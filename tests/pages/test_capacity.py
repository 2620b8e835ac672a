"""The capacity picture: amounts add up, and say what may still be bought."""

from collections.abc import Callable
from datetime import datetime

import pytest
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from iris_web.pages import capacity, capacity_matrix, capacity_rows, families, words
from iris_web.pages.amounts import HELD, Amounts, all_slice_counts, slice_counts, state_counts
from iris_web.pages.capacity_rows import MAX_CELLS, Portion
from scaling.models import Group, Slice
from scaling.testing import builders, sample_cluster


def facts(name: str = "g", zone: str = "a", outcome: str = "AVAILABLE", **amounts: int) -> Portion:
    return Portion(name, "tpu", "v5p", zone, outcome, Amounts(**amounts))


@pytest.mark.django_db
def test_slices_are_told_in_devices_by_family_and_zone(now: datetime) -> None:
    group = builders.make_group("g", device_variant="v5p-32", devices_per_worker=4, workers_per_slice=4, max_slices=6)
    builders.make_status(group, now)
    builders.make_slice(group, now, idle=None)
    builders.make_slice(group, now, idle=10)
    builders.make_slice(group, now, "BOOTING")
    builders.make_slice(group, now, "REQUESTING")
    builders.make_slice(group, now, "TERMINATING")
    builders.make_slice(group, now, "GONE")
    picture = capacity.read_picture()
    (family,) = picture.families
    (place,) = family.places
    assert (family.label, place.zone, picture.zone_count) == ("TPU v5p", "us-east5-a", 1)
    amounts = place.amounts
    assert [getattr(amounts, name) for name in HELD] == [16, 16, 16, 16, 16]
    assert (amounts.maximum, amounts.open, amounts.blocked) == (96, 16, 0)


@pytest.mark.django_db
def test_headroom_of_a_group_that_cannot_grow_is_blocked(now: datetime) -> None:
    group = builders.make_group("g", max_slices=8)
    builders.make_status(group, now, "STOCKOUT")
    (family,) = capacity.read_picture().families
    assert (family.amounts.blocked, family.amounts.open) == (32, 0)
    assert family.places[0].troubled == 1


@pytest.mark.django_db
def test_a_group_without_devices_counts_workers(now: datetime) -> None:
    builders.make_group("c", device_type="cpu", device_variant="", devices_per_worker=0, max_slices=3)
    (family,) = capacity.read_picture().families
    assert (family.label, family.word, family.amounts.maximum) == ("CPU", "workers", 3)


@pytest.mark.parametrize(
    ("kind", "variant", "name"),
    [("tpu", "v5p-128", "v5p"), ("tpu", "v5litepod-8", "v5e"), ("gpu", "h100", "h100"), ("cpu", "", "cpu"),
     ("tpu", "v9-8", "v9"), ("gpu", "", "gpu")],
)  # fmt: skip
def test_variants_belong_to_their_family(kind: str, variant: str, name: str) -> None:
    assert families.family(kind, variant) == name


def test_accelerators_come_before_cpu_workers() -> None:
    picture = capacity.draw(
        [
            Portion("c", "cpu", "cpu", "a", "", Amounts()),
            Portion("g", "gpu", "h100", "a", "", Amounts()),
            facts(),
        ]
    )
    assert [family.label for family in picture.families] == ["TPU v5p", "GPU h100", "CPU"]


amount = st.integers(0, 5000)


@given(st.lists(st.tuples(amount, amount, amount, amount, amount, amount), min_size=1, max_size=20))
def test_places_add_up_to_their_families_and_these_to_the_whole(rows: list[tuple[int, ...]]) -> None:
    groups = [
        facts(f"g{n}", f"z{n % 5}", used=row[0], free=row[1], booting=row[2], leaving=row[3], open=row[4],
              blocked=row[5], maximum=sum(row))
        for n, row in enumerate(rows)
    ]  # fmt: skip
    picture = capacity.draw(groups)
    for family in picture.families:
        places = (*family.places, *family.folded)
        assert sum(place.amounts.held for place in places) == family.amounts.held
        for place in places:
            assert {name for name, _ in place.bar.parts} == {name for name in HELD if getattr(place.amounts, name)}
    total = sum(sum(row[:4]) for row in rows)
    assert picture.totals.held == total == sum(family.amounts.held for family in picture.families)


def test_a_few_groups_have_a_cell_each_and_many_are_a_matrix() -> None:
    few = capacity.draw([facts(f"g{n}", f"z{n % 8}") for n in range(82)])
    many = capacity.draw(
        [facts(f"g{n}", f"z{n % 40}", "STOCKOUT" if n % 40 == 7 else "AVAILABLE") for n in range(2000)]
    )
    assert few.cells and not few.zones and not many.cells
    (family,) = many.families
    assert len(many.zones) == len(family.places) == capacity.MOST_ZONES and many.folded_zones == 8
    assert "z7" in many.zones, "the zone in trouble is not folded away"
    assert many.outcomes == [("AVAILABLE", 1950), ("STOCKOUT", 50)]


def test_among_bars_places_in_trouble_are_not_folded_away() -> None:
    picture = capacity.draw([facts(f"g{n}", f"z{n}", "STOCKOUT" if n == 27 else "AVAILABLE") for n in range(30)])
    (family,) = picture.families
    assert len(family.places) == capacity.MOST_PLACES and len(family.folded) == 18
    assert family.places[0].zone == "z27"


def test_a_cell_of_the_matrix_leads_to_its_groups_and_says_what_is_wrong() -> None:
    portions = [
        facts("", "eu<1>", used=8, free=4, maximum=64)._replace(groups=3),
        facts("", "eu<1>", "STOCKOUT", blocked=32, maximum=32)._replace(groups=2),
        facts("", "eu<1>", "BACKOFF", maximum=32)._replace(groups=1),
    ]
    (family,) = capacity.draw(portions).families
    empty, cell = capacity_matrix.cells(family, ["elsewhere", "eu<1>"])
    assert empty == "<td></td>"
    assert 'href="/groups/?family=tpu%3Av5p&amp;zone=eu%3C1%3E"' in cell and "<1>" not in cell
    assert "8 used, 4 free, 128 at most; 32 may not be bought now; 2 stockout, 1 backoff" in cell
    assert "#i-diamond" in cell, "the gravest of what is wrong"
    portions[0].amounts.used += 4
    portions[1:] = [facts("", "eu<1>", code, blocked=32, maximum=32) for code in ("CREATE_REFUSED", "STOCKOUT")]
    portions.append(portions[-1])
    _, later = capacity_matrix.cells(capacity.draw(portions).families[0], ["elsewhere", "eu<1>"])
    assert "12 used, 4 free, 160 at most; 96 may not be bought now; 2 stockout, 1 create refused" in later


@pytest.mark.parametrize(
    ("value", "said"), [(0, "0"), (999, "999"), (5804, "5.8k"), (91_136, "91k"), (1_250_000, "1.2M")]
)
def test_a_cell_tells_amounts_in_few_letters(value: int, said: str) -> None:
    assert words.compact(value) == said


@pytest.mark.django_db
def test_added_up_by_the_database_it_is_the_same_picture(now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    sample_cluster.tpu_cluster(now, jobs=0)
    Group.objects.filter(name__contains="v4").update(max_slices=1)  # some hold more than they may
    each = capacity.read_picture()
    monkeypatch.setattr(capacity_rows, "MAX_CELLS", 0)
    added = capacity.read_picture()
    assert [(f.label, f.amounts) for f in added.families] == [(f.label, f.amounts) for f in each.families]
    told = [
        {(p.key, p.counted.total(), tuple(sorted(p.counted.items())), p.told) for p in picture.places}
        for picture in (each, added)
    ]
    assert told[0] == told[1]
    assert all(place.groups for place in each.places) and not any(place.groups for place in added.places)


@pytest.mark.django_db
def test_a_pause_and_a_halt_are_told_apart_in_sums_too(now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity_rows, "MAX_CELLS", 0)
    builders.make_installation(halted_since=now, halted_by="ana")
    for name, paused in (("a", now), ("b", None), ("c", None)):
        builders.make_status(builders.make_group(name, pause_since=paused), now, "PAUSED")
    (family,) = capacity.read_picture().families
    assert family.places[0].counted == {"PAUSED": 1, "HALTED": 2}


def test_a_cell_says_in_words_what_it_shows() -> None:
    cell = facts("tpu-1", outcome="STOCKOUT", used=4, free=8, booting=2, maximum=32)
    assert cell.told == "tpu-1: stockout, 4 used, 8 free, 2 coming of 32 chips"


def _leave_it_no_other_way(cursor: CursorWrapper) -> None:
    """Which index PostgreSQL takes depends on statistics of the moment; whether this one is enough does not."""
    cursor.execute("SET LOCAL enable_seqscan = off")
    cursor.execute("SET LOCAL enable_bitmapscan = off")
    for name, what in connection.introspection.get_constraints(cursor, Slice._meta.db_table).items():
        if what["index"] and not what["unique"] and name != "slice_counts":
            cursor.execute(f'DROP INDEX "{name}"')  # until the test's transaction is rolled back


@pytest.mark.django_db
def test_slices_are_counted_along_an_index_in_which_all_that_is_counted_stands() -> None:
    with CaptureQueriesContext(connection) as asked, connection.cursor() as cursor:
        all_slice_counts()
        state_counts()
        slice_counts([1, 2])
        if connection.vendor == "postgresql":
            _leave_it_no_other_way(cursor)
        sqlite = connection.vendor == "sqlite"
        explain, alone = ("EXPLAIN QUERY PLAN", "COVERING INDEX") if sqlite else ("EXPLAIN", "Index Only Scan using")
        plans = []
        for one in asked.captured_queries[:3]:
            cursor.execute(f"{explain} {one['sql']}")
            plans.append(str(cursor.fetchall()))
    assert all(f"{alone} slice_counts" in plan for plan in plans), plans


@pytest.mark.django_db
def test_the_picture_costs_two_queries_whatever_the_size(
    now: datetime, django_assert_num_queries: Callable[[int], object]
) -> None:
    for size in (1, 30, MAX_CELLS):
        made = [builders.make_group(f"g-{size}-0")]
        fields = {f.attname: getattr(made[0], f.attname) for f in Group._meta.concrete_fields if not f.primary_key}
        Group.objects.bulk_create([Group(**fields | {"name": f"g-{size}-{n}"}) for n in range(1, size)])
        builders.make_slice(made[0], now)
        with django_assert_num_queries(2):  # type: ignore[attr-defined]
            capacity.read_picture()


def test_the_overview_links_every_group(now: datetime, sign_in: Callable[[str], Client]) -> None:
    group = builders.make_group("odd name/with?signs#")
    builders.make_status(group, now, "STOCKOUT")
    page = sign_in("viewer").get("/").content.decode()
    assert 'href="/groups/odd%20name%2Fwith%3Fsigns%23/"' in page
    assert sign_in("viewer").get("/groups/odd%20name%2Fwith%3Fsigns%23/").status_code == 200
