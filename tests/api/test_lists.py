"""Lists: pages by key, filters, and what each item says."""

import base64
from datetime import timedelta
from typing import Any

import pytest

from iris_web.api.openapi import document
from iris_web.api.table import ROUTES
from scaling.clock import FrozenClock
from scaling.history import record
from scaling.testing.builders import (
    make_group,
    make_hint,
    make_installation,
    make_job,
    make_marker,
    make_slice,
    make_status,
)
from tests.api.conftest import Api

pytestmark = pytest.mark.django_db


def _all(api: Api, path: str, limit: int) -> list[Any]:
    """Every item, page after page."""
    items, cursor = [], ""
    while True:
        joint = "&" if "?" in path else "?"
        status, page = api.get(f"{path}{joint}limit={limit}" + (f"&cursor={cursor}" if cursor else ""))
        assert status == 200, page
        assert len(page["items"]) <= limit
        items += page["items"]
        cursor = page["next"]
        if cursor is None:
            return items


@pytest.mark.parametrize("limit", [1, 3, 7, 8, 500])
def test_pages_give_every_group_once_by_name(viewer: Api, limit: int) -> None:
    names = sorted(f"group-ü/{n}" for n in range(7))
    for name in names:
        make_group(name)
    assert [item["name"] for item in _all(viewer, "/groups", limit)] == names


def test_the_history_is_read_newest_first_and_grows_without_disturbing_a_reader(viewer: Api) -> None:
    ids = [record("scale_up", group="g").pk for _ in range(5)]
    first = viewer.get("/actions?limit=2&kind=scale_up")[1]
    record("scale_up", group="g")
    second = viewer.get(f"/actions?limit=3&kind=scale_up&cursor={first['next']}")[1]
    assert [item["id"] for item in first["items"] + second["items"]] == ids[::-1]
    assert second["next"] is None


def test_the_history_is_filtered(viewer: Api, frozen_clock: FrozenClock) -> None:
    cause = record("set_limits", group="g")
    frozen_clock.advance(60)
    effect = record("marker_cleared", group="g", cause=cause)
    other = record("drain", group="h", outcome="refused")

    def ids(query: str) -> list[int]:
        items = viewer.get(f"/actions?{query}")[1]["items"]
        return [item["id"] for item in items if item["kind"] != "create_token"]

    assert ids("group=g") == [effect.pk, cause.pk]
    assert ids("kind=drain") == ids("outcome=refused") == [other.pk]
    assert ids(f"cause={cause.pk}") == [effect.pk]
    since = (frozen_clock() - timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert ids(f"since={since}") == [other.pk, effect.pk]
    assert ids(f"until={since}") == [cause.pk]
    assert ids(f"since={frozen_clock().timestamp() - 1:.0f}") == ids(f"since={since}")
    assert ids("since=20310530") == []
    assert viewer.get("/actions?since=2031")[0] == 400
    assert viewer.get(f"/actions/{effect.pk}")[1]["cause"] == cause.pk


def test_a_group_tells_the_record_that_the_planner_used(viewer: Api, frozen_clock: FrozenClock) -> None:
    group = make_group("g")
    assert viewer.get("/groups/g")[1]["outcome"] is None
    until = frozen_clock() + timedelta(minutes=5)
    make_status(group, frozen_clock(), "STOCKOUT", stockout_until=until, capacity_remaining=3, quota_remaining=16)
    told = viewer.get("/groups/g")[1]
    assert (told["outcome"], told["capacity_remaining"], told["quota_remaining"]) == ("STOCKOUT", 3, 16)
    assert told["stockout_until"] == until.isoformat()
    assert [check["outcome"] for check in told["checks"] if check["blocked"]] == ["STOCKOUT"]
    assert [item["name"] for item in viewer.get("/groups?outcome=STOCKOUT")[1]["items"]] == ["g"]
    assert viewer.get("/groups?outcome=AVAILABLE")[1]["items"] == []


def test_groups_are_filtered_by_what_they_are(viewer: Api, frozen_clock: FrozenClock) -> None:
    make_group("a", zone="us-east5-a", drain_since=frozen_clock())
    make_group("b", zone="us-west4-a", device_type="gpu", device_variant="h100")
    names = lambda query: [item["name"] for item in viewer.get(f"/groups?{query}")[1]["items"]]  # noqa: E731
    assert names("zone=us-east5-a") == names("draining=true") == ["a"]
    assert names("device_type=gpu&device_variant=h100") == names("draining=false") == ["b"]


def test_slices_and_workers_are_filtered(viewer: Api, frozen_clock: FrozenClock) -> None:
    group = make_group("g", workers_per_slice=2)
    make_slice(group, frozen_clock(), name="s1")
    make_slice(group, frozen_clock(), "GONE", name="s2")
    names = lambda path: [item["name"] for item in viewer.get(path)[1]["items"]]  # noqa: E731
    assert names("/slices") == ["s1", "s2"]
    assert names("/slices?live=true") == names("/slices?state=READY") == ["s1"]
    assert names("/slices?live=false&group=g") == ["s2"]
    assert names("/workers?slice=s1") == ["s1-0", "s1-1"]
    assert viewer.get("/slices/s1")[1]["group"] == "g"
    assert viewer.get("/slices?state=GREEN")[0] == 400


def test_open_markers_and_their_history(viewer: Api, frozen_clock: FrozenClock) -> None:
    group = make_group("g")
    make_marker(group, frozen_clock())
    make_marker(group, frozen_clock(), "quota", closed_at=frozen_clock())
    kinds = lambda query: [item["kind"] for item in viewer.get(f"/markers?{query}")[1]["items"]]  # noqa: E731
    assert kinds("open=true") == kinds("kind=stockout") == ["stockout"]
    assert kinds("open=false") == ["quota"]
    assert kinds("acknowledged=true") == []
    assert viewer.get("/markers?open=true")[1]["items"][0]["message"] == "There is no more capacity in the zone"


def test_hints_and_jobs_say_why_they_wait(viewer: Api, frozen_clock: FrozenClock) -> None:
    job = make_job(frozen_clock(), "a", source="slurm")
    make_job(frozen_clock(), "b", source="slurm", state="done")
    blocked = [
        {"group": "g", "outcome": "STOCKOUT", "until": None},
        {"group": "h", "outcome": "BACKOFF", "until": "2026-01-01T12:05:00+00:00"},
    ]
    make_hint(job, frozen_clock(), "tier_blocked", "g is out of stock", blocked_by=blocked)
    hint = viewer.get("/hints?code=tier_blocked")[1]["items"][0]
    assert (hint["job_id"], hint["reason"], hint["blocked_by"]) == ("a", "tier_blocked: g is out of stock", blocked)
    (listed,) = viewer.get("/jobs?hint=tier_blocked")[1]["items"]
    assert (listed["id"], listed["hint"]["blocked_by"]) == ("a", blocked)
    assert [item["id"] for item in viewer.get("/jobs?state=done")[1]["items"]] == ["b"]


def test_times_of_hints_that_were_stored_as_seconds_are_served_as_all_others(
    viewer: Api, frozen_clock: FrozenClock
) -> None:
    blocked = [{"group": "g", "outcome": "BACKOFF", "until": frozen_clock().timestamp()}]
    make_hint(make_job(frozen_clock(), "a"), frozen_clock(), blocked_by=blocked)
    expected = [{"group": "g", "outcome": "BACKOFF", "until": "2026-01-01T12:00:00+00:00"}]
    assert viewer.get("/hints")[1]["items"][0]["blocked_by"] == expected
    assert viewer.get("/jobs/demo:a")[1]["hint"]["blocked_by"] == expected


@pytest.mark.parametrize("path", ["/groups", "/slices", "/workers", "/markers", "/jobs", "/hints", "/actions"])
def test_a_longer_list_takes_no_more_statements(
    viewer: Api, frozen_clock: FrozenClock, django_assert_max_num_queries: Any, path: str
) -> None:
    for number in range(12):
        group = make_group(f"g{number}")
        make_status(group, frozen_clock())
        make_slice(group, frozen_clock())
        make_marker(group, frozen_clock())
        make_hint(make_job(frozen_clock()), frozen_clock())
        record("scale_up", group=group.name)
    with django_assert_max_num_queries(4):
        assert len(viewer.get(path)[1]["items"]) >= 12


def test_the_status_counts_the_cluster(viewer: Api, frozen_clock: FrozenClock) -> None:
    make_installation()
    group = make_group("g")
    make_status(group, frozen_clock(), "STOCKOUT")
    make_slice(group, frozen_clock())
    make_marker(group, frozen_clock())
    make_job(frozen_clock(), tasks=5)
    told = viewer.get("/status")[1]
    assert told["slices"] == {"READY": 1}
    assert told["groups"] == {"total": 1, "draining": 0, "paused": 0, "by_outcome": {"STOCKOUT": 1}}
    assert (told["pending_tasks"], told["jobs"], told["oldest_wait_seconds"]) == (5, {"pending": 1}, 60.0)
    assert (told["markers"]["open"], told["markers"]["unacknowledged"]) == ({"stockout": 1}, 1)
    assert (told["halted"], told["cycle"]) == (None, None)


@pytest.mark.parametrize("key", [b'"\\u0000"', b'"\\ud800"', b"1e400", b"-1", b"true", b"[" * 200, b"\xff", b""])
def test_a_cursor_that_is_none_is_refused_in_one_sentence(viewer: Api, key: bytes) -> None:
    for path in ("groups", "actions"):
        status, answer = viewer.get(f"/{path}?cursor={base64.urlsafe_b64encode(key or b'{}').decode()}")
        assert (status, answer["errors"][0]["path"]) == (400, "cursor")


def test_a_name_with_nul_is_404(viewer: Api) -> None:
    assert viewer.get("/groups/a%00b")[0] == 404


def test_the_history_is_searched_and_filtered_as_on_the_page(viewer: Api) -> None:
    drain = record("drain", group="tpu_v5p-64", reason="rack 4", cycle=7)
    record("demand", target="source s")
    ids = lambda query: [item["id"] for item in viewer.get(f"/actions?{query}")[1]["items"]]  # noqa: E731
    assert ids("q=v5p-64") == ids("q=rac&kind=drain") == ids("cycle=7") == ids("q=rack&by=system") == [drain.pk]
    assert ids("q=nosuchword") == ids("q=rack&by=people") == []
    assert "demand" not in [item["kind"] for item in viewer.get("/actions?routine=false")[1]["items"]]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("kind=bogus", "kind"),
        ("outcome=bogus", "outcome"),
        ("by=bogus", "by"),
        ("nonsense=1", "nonsense"),
        ("source=bogus", "source"),
        ("cursor=xx", "cursor"),
        ("routine=perhaps", "routine"),
    ],
)
def test_a_filter_of_the_history_that_cannot_be_meant_is_refused_by_name(viewer: Api, query: str, field: str) -> None:
    status, problem = viewer.get(f"/actions?{query}")
    assert status == 400 and field in str(problem), problem


def test_a_kind_that_only_the_history_knows_is_one(viewer: Api) -> None:
    old = record("of_old")
    assert [item["id"] for item in viewer.get("/actions?kind=of_old")[1]["items"]] == [old.pk]


@pytest.mark.parametrize(
    ("path", "field", "words"),
    [
        ("/groups", "outcome", "PLATFORM_UNREACHABLE, DRAINING, PAUSED, CREATE_REFUSED"),
        ("/groups", "device_type", "cpu, gpu, tpu"),
        ("/slices", "state", "REQUESTING, BOOTING"),
        ("/hints", "code", "scaling_up, waiting_for_workers"),
        ("/jobs", "hint", "scaling_up, waiting_for_workers"),
        ("/jobs", "tier", "production, standard, batch"),
        ("/deployments", "gate", ""),
    ],
)
def test_a_word_that_a_filter_does_not_know_is_refused_with_those_it_knows(
    viewer: Api, path: str, field: str, words: str
) -> None:
    status, problem = viewer.get(f"{path}?{field}=bogus")
    assert status == 400 and problem["detail"].startswith(f"{field}: expected one of {words}"), problem
    assert problem["detail"].endswith(', got "bogus"')
    (told,) = (p for p in document()["paths"][path]["get"]["parameters"] if p["name"] == field)
    assert told["schema"]["enum"] and "400" in document()["paths"][path]["get"]["responses"]


def test_no_list_takes_a_parameter_that_it_does_not_have(admin: Api) -> None:
    lists = [route.path for route in ROUTES if route.method == "GET" and "cursor" in route.query]
    assert len(lists) >= 11
    for path in lists:
        status, answer = admin.get(f"{path}?nonsense=1")
        assert status == 400 and answer["errors"][0]["path"] == "nonsense", path
        assert "unknown parameter; expected one of " in answer["detail"], path
    for page, own in (("from", "since"), ("to", "until"), ("span", "since"), ("after", "cursor")):
        status, answer = admin.get(f"/actions?{page}=2026-01-01&kind=drain")
        assert (status, answer["detail"]) == (400, f'{page}: unknown parameter; did you mean "{own}"?')
