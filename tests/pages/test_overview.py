"""The overview answers: is the cluster all right?"""

from collections.abc import Callable
from datetime import datetime

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from iris_web.access import Role
from iris_web.pages import overview
from scaling.clock import FrozenClock
from scaling.models import Group, Platform
from scaling.testing import builders
from tests.pages.conftest import Get, words_of


def test_an_empty_installation_says_what_to_do_first(db: None, see: Get) -> None:
    text = see("/")
    assert "No groups yet" in text and "manage.py import_cluster" in text
    assert (
        "no cycle has run" in text
        and "Nothing is out of stock" in text
        and "Nothing has happened yet" in text
        and "No job waits" in text
    )
    assert "Stale" not in text


def test_the_figures_tell_slices_demand_failures_and_the_cycle(group: Group, now: datetime, see: Get) -> None:
    builders.make_slice(group, now, idle=None)
    builders.make_slice(group, now, idle=5)
    builders.make_slice(group, now, "BOOTING")
    builders.make_job(now, tasks=3, submitted_at=builders.before(now, 3700))
    builders.make_hint(builders.make_job(now, tasks=2), now, "tier_blocked")
    builders.make_job(now, "partly", tasks=5, state="running", pending_tasks=1, running_tasks=4)
    builders.make_job(now, "over", state="done", pending_tasks=0)
    builders.make_marker(group, now)
    builders.make_cycle(builders.before(now, 4))
    text = see("/")
    assert "Slices ready 2 50% in use 1 coming" in text
    assert "Waiting jobs 3 6 tasks" in text and "oldest waits 1 h 1 min" in text
    assert "1 job: groups blocked" in text and "2 jobs: given room" in text
    with CaptureQueriesContext(connection) as asked:
        alone = overview.numbers({}, Role.VIEWER)
    assert alone["slices"] == {"ready": 2, "busy": 1, "coming": 1, "leaving": 0}
    assert not any("group_id" in one["sql"] for one in asked), "an update counts by state alone"
    with CaptureQueriesContext(connection) as asked:
        see("/")
    facts = ("FROM scaling_slice", "AS marked", 'SUM("scaling_job"."pending_tasks")')
    once = [[words in one["sql"] for one in asked].count(True) for words in facts]
    assert once == [1, 1, 1], "what several parts of the page show is asked once"
    assert "Waiting jobs longest first" in text
    assert "Stock-outs and failures 1 1 stock-out" in text and "1 not acknowledged" in text
    assert "Last cycle 4 s ago" in text and "ok in 84 ms" in text


def test_stock_outs_show_age_end_and_owner(group: Group, now: datetime, see: Get) -> None:
    builders.make_marker(group, now, since=builders.before(now, 130), until=builders.after(now, 300))
    other = builders.make_group("tpu-other")
    builders.make_marker(other, now, acknowledged_at=now, acknowledged_by="ana", acknowledged_note="ticket 4711")
    text = see("/", "operator")
    assert "no owner Acknowledge" in text and "2 min 10 s" in text and "ends in 5 min" in text
    assert "ana" in text and "ticket 4711" in text
    assert "Acknowledge" not in see("/", "viewer")


def test_an_acknowledgement_that_ran_out_is_no_owner(group: Group, now: datetime, see: Get) -> None:
    builders.make_marker(group, now, acknowledged_at=builders.before(now, 100), acknowledged_by="ana",
                         acknowledged_note="back soon", acknowledged_until=builders.before(now, 1))  # fmt: skip
    assert "no owner" in see("/") and "1 not acknowledged" in see("/")


def test_the_badge_the_overview_and_the_page_count_the_same_markers(
    group: Group, now: datetime, see: Get, sign_in: Callable[[str], Client]
) -> None:
    builders.make_marker(group, now)
    builders.make_marker(group, now, "backoff", failures=5)
    builders.make_marker(builders.make_group("b"), now, acknowledged_at=now, acknowledged_by="ana")
    builders.make_marker(builders.make_group("c"), now, until=now)
    for path in ("/", "/groups/", "/stockouts/"):
        assert "Stock-outs 2 Actions" in see(path), path
    assert 'title="3 in force, 2 not acknowledged"' in sign_in("viewer").get("/groups/").content.decode()
    assert "Stock-outs and failures 3 2 stock-outs 2 not acknowledged" in see("/")
    assert "1 over, waiting for a probe" in see("/")
    assert "Open 3 in force, 2 not acknowledged · 1 over, waiting for a probe" in see("/stockouts/")


def test_what_heals_itself_within_minutes_asks_for_nobody(
    group: Group, now: datetime, see: Get, sign_in: Callable[[str], Client]
) -> None:
    brief = builders.make_marker(group, now, "backoff", failures=4)
    for path in ("/", "/stockouts/", f"/groups/{group.name}/"):
        text = see(path, "operator")
        assert "tried again by itself" in text and "no owner" not in text and "· not acknowledged" not in text, path
        assert 'class="count' not in sign_in("viewer").get(path).content.decode(), path
    assert "Stock-outs and failures 1 1 brief back-off" in see("/") and "acknowledged" not in see("/")
    builders.make_marker(group, now, acknowledged_at=now, acknowledged_by="ana")
    assert "Stock-outs and failures 2 1 stock-out the rest acknowledged 1 brief back-off" in see("/")
    long = builders.make_marker(builders.make_group("b"), now, "backoff", failures=5)
    page = sign_in("viewer").get("/stockouts/").content.decode()
    assert page.index(f'id="marker-{long.pk}"') < page.index(f'id="marker-{brief.pk}"')
    assert "Open 3 in force, 1 not acknowledged, 1 brief back-off" in words_of(page)
    assert "2 of these" in see("/stockouts/?owner=none") and "1 of these" in see("/stockouts/?owner=some")


def test_a_marker_that_has_run_out_is_calm_and_asks_for_nobody(
    group: Group, now: datetime, see: Get, sign_in: Callable[[str], Client]
) -> None:
    builders.make_marker(group, now, until=now)
    for path in ("/", "/stockouts/", "/groups/tpu-v5-8/"):
        text, page = see(path, "operator"), sign_in("operator").get(path).content.decode()
        assert "stockout over" in text and "waiting for a probe" in text, path
        assert "no owner" not in text and "not acknowledged" not in text.replace("Owner any not acknowledged", ""), path
        assert 'class="state tone-bad"' not in page, path
        assert 'class="count' not in page, path


def test_latest_actions_come_first_and_name_who_did_them(group: Group, now: datetime, see: Get) -> None:
    builders.make_action("scale_up", now, group=group.name, slice="s-1", reason="deficit 1")
    builders.make_action("drain", now, group=group.name, actor_kind="user", actor="ana", source="page", reason="rack")
    text = see("/")
    assert text.index("drain by ana") < text.index("scale up")


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({}, "ok"),
        ({"last_error": "OperationalError: disk full"}, "disk full"),
        ({"last_finished_at": None}, "not yet run"),
    ],
)
def test_loops_show_how_they_are(changes: dict[str, object], word: str, group: Group, now: datetime, see: Get) -> None:
    builders.make_loop("scheduler", now, 1, **changes)
    assert word in see("/")


def test_a_loop_that_stopped_is_late_and_then_silent(group: Group, still: FrozenClock, now: datetime, see: Get) -> None:
    builders.make_loop("scheduler", now, 1)
    still.advance(20)
    assert "scheduler late" in see("/") and "scheduler ended last 21 s ago" in see("/")
    still.advance(120)
    assert "scheduler silent" in see("/")


def test_an_aborted_cycle_is_said_over_every_page(group: Group, now: datetime, see: Get) -> None:
    builders.make_cycle(now, "aborted", "platform gcp: 503 from the API")
    builders.make_loop("autoscaler", now, 10)
    for path in ("/", "/groups/", "/demand/"):
        text = see(path)
        assert "The last cycle was aborted" in text and "503 from the API" in text
    assert "autoscaler aborted" in see("/")


def test_silence_is_said_once_no_cycle_has_run_for_three_periods(
    group: Group, still: FrozenClock, now: datetime, see: Get
) -> None:
    builders.make_cycle(now)
    page = see("/")
    assert "Stale" in page, "the words wait in the page, hidden until their moment"
    still.advance(31)
    assert "Stale: no cycle has run for 31 s" in see("/")


def test_the_banner_of_silence_is_hidden_until_its_moment(
    group: Group, still: FrozenClock, now: datetime, sign_in: object
) -> None:
    builders.make_cycle(now)
    fresh = sign_in("viewer").get("/").content.decode()  # type: ignore[operator]
    assert 'data-show-at="2026-01-01T12:00:30+00:00" hidden' in fresh
    still.advance(31)
    assert "data-show-at" not in sign_in("viewer").get("/").content.decode()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"demonstration": True}, "Demonstration A small simulated cluster"),
        ({"halted_by": "ana", "halted_reason": "fire drill"}, "Buying and releasing of slices is halted"),
    ],
)
def test_the_kind_of_cluster_is_said(
    fields: dict[str, object], words: str, group: Group, now: datetime, see: Get
) -> None:
    if "halted_by" in fields:
        fields = {**fields, "halted_since": now}
    builders.make_installation(**fields)
    text = see("/stockouts/")
    assert words in text
    assert "fire drill" in text if "halted_by" in fields else True


def test_platforms_that_are_watched_or_out_of_reach_are_said(group: Group, now: datetime, see: Get) -> None:
    Platform.objects.create(name="gcp", kind="gcp", mode="observe", simulated=False)
    Platform.objects.create(
        name="cw", kind="coreweave", mode="act", unreachable_since=now, last_error="401 from the API"
    )
    text = see("/")
    assert "Observe mode Plans for gcp are made and shown. Nothing is sent." in text
    assert "Platform cw cannot be listed" in text and "401 from the API" in text
    assert "Slices of simulated come from the simulated cloud" in text


def test_a_real_platform_that_acts_needs_no_banner(db: None, sign_in: object) -> None:
    Platform.objects.create(name="gcp", kind="gcp", mode="act", simulated=False)
    assert 'class="banner' not in sign_in("viewer").get("/").content.decode()  # type: ignore[operator]
