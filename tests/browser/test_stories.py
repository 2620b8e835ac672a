"""What people do, in a real browser: sign in, watch a slice come, acknowledge a stock-out, drain and undo."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import AbstractUser
from django.db import transaction

from scaling import clock, feed
from scaling.history import record
from scaling.models import Action, Group, Loop, Slice
from scaling.testing import builders
from tests.services.stack import LiveStack

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
Visit = Callable[..., "Page"]


def tell(row: Slice, state: str, **changes: Any) -> None:
    """Move a slice as the loops do: the change and its events in one transaction."""
    with transaction.atomic():
        Slice.objects.filter(pk=row.pk).update(state=state, **changes)
        assert row.group is not None
        for topic in (f"slice:{row.name}", f"group:{row.group.name}"):
            feed.publish(topic, "slice", {"name": row.name, "state": state})


def test_someone_signs_in_and_out(
    live_stack: LiveStack, people: dict[str, AbstractUser], group: Group, chromium_page: "Page"
) -> None:
    page = chromium_page
    page.goto(f"{live_stack.url}/groups/tpu-v5-8/")
    page.get_by_label("Name").fill("operator")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("Please enter a correct username and password").wait_for()
    page.get_by_label("Password").fill("long-enough-1")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/groups/tpu-v5-8/")
    page.get_by_role("heading", name="tpu-v5-8", exact=True).wait_for()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/login/")
    page.goto(f"{live_stack.url}/groups/")
    assert "/login/?next=" in page.url


def test_a_slice_goes_requesting_booting_ready_before_ones_eyes(group: Group, live: Visit) -> None:
    page = live("/groups/tpu-v5-8/")
    page.evaluate("window.untouched = true")
    page.get_by_text("It holds no slices.").wait_for()
    with transaction.atomic():
        row = builders.make_slice(group, clock.now(), "REQUESTING", name="tpu-v5-8-aa")
        record("scale_up", group=group.name, slice=row.name, reason="deficit 1")
        feed.publish(f"group:{group.name}", "slice", {"name": row.name})
    line = page.locator("#slice-tpu-v5-8-aa")
    line.get_by_text("requesting").wait_for(timeout=5_000)
    page.get_by_text("deficit 1").wait_for(timeout=5_000)
    tell(row, "BOOTING")
    line.get_by_text("booting").wait_for(timeout=5_000)
    tell(row, "READY", ready_at=clock.now(), idle_since=clock.now())
    line.get_by_text("idle; may go in").wait_for(timeout=5_000)
    assert page.evaluate("window.untouched") is True, "the page was never loaded again"


def test_the_overview_shows_actions_and_capacity_as_they_come(group: Group, live: Visit) -> None:
    page = live("/", "viewer")
    page.get_by_text("Nothing has happened yet.").wait_for()
    with transaction.atomic():
        row = builders.make_slice(group, clock.now(), "BOOTING", name="tpu-v5-8-bb")
        record("scale_up", group=group.name, slice=row.name, reason="deficit 1")
        feed.publish(f"slice:{row.name}", "slice", {})
    page.locator("#overview-actions").get_by_text("scale up").wait_for(timeout=5_000)
    page.locator("#figure-slices").get_by_text("1 coming").wait_for(timeout=5_000)
    page.locator(".family-sum").get_by_text("4 coming").wait_for(timeout=5_000)
    assert page.get_by_text("Nothing has happened yet.").is_hidden()


def test_a_stock_out_is_acknowledged_and_everyone_sees_it(group: Group, now: datetime, live: Visit) -> None:
    builders.make_marker(group, now, message="no more v5p here")
    other = live("/", "viewer")
    other.get_by_text("1 not acknowledged").wait_for()
    page = live("/stockouts/")
    page.get_by_role("link", name="Acknowledge stockout of tpu-v5-8").click()
    page.get_by_role("button", name="Acknowledge").click()
    assert page.get_by_label("Note").evaluate("field => field.matches(':invalid')"), "a note is required"
    page.get_by_label("Note").fill("ticket 4711, back tonight")
    page.get_by_label("When", exact=True).select_option("4h")
    page.get_by_role("button", name="Acknowledge").click()
    page.get_by_text("The stockout of tpu-v5-8 is acknowledged.").wait_for()
    page.get_by_text("ticket 4711, back tonight").wait_for()
    other.get_by_text("all acknowledged").wait_for(timeout=5_000)
    assert other.locator(".nav .count.tone-bad").count() == 0
    assert Action.objects.get().reason == "ticket 4711, back tonight"


def test_a_busy_group_is_drained_by_name_and_taken_back(group: Group, now: datetime, live: Visit) -> None:
    row = builders.make_slice(group, now, idle=None, name="tpu-v5-8-busy")
    builders.make_task(builders.make_job(now, "train"), row.workers.get(), now)
    page = live("/groups/tpu-v5-8/")
    page.get_by_role("link", name="Drain", exact=True).click()
    page.get_by_text("It will hit 1 slice and 1 task of 1 job").wait_for()
    page.get_by_label("Type the group's name").fill("tpu-v5")
    page.get_by_role("button", name="Drain").click()
    page.get_by_text("Expected the name tpu-v5-8, to be sure.").wait_for()
    page.get_by_label("Reason").fill("rack 4 is moved")
    page.get_by_label("Type the group's name").fill("tpu-v5-8")
    page.get_by_role("button", name="Drain").click()
    page.get_by_text("tpu-v5-8 is draining.").wait_for()
    page.locator("#order-drain").get_by_text("rack 4 is moved").wait_for()
    page.locator(".notice").get_by_role("link", name="Undo").click()
    page.get_by_role("button", name="Undo it").click()
    page.get_by_text("Taken back: drain tpu-v5-8.").wait_for()
    group.refresh_from_db()
    assert group.drain_since is None
    assert list(Action.objects.order_by("id").values_list("kind", flat=True)) == ["drain", "undrain"]


def test_a_limit_is_raised_after_a_review(group: Group, visit: Visit) -> None:
    page = visit("/groups/tpu-v5-8/", "admin")
    page.get_by_role("link", name="Edit limits").click()
    page.get_by_label("Max slices").fill("12")
    page.get_by_role("button", name="Review the change").click()
    page.get_by_role("row", name="Max slices").get_by_text("12", exact=True).wait_for()
    page.get_by_role("button", name="Save").click()
    page.get_by_text("The limits of tpu-v5-8 are changed").wait_for()
    group.refresh_from_db()
    assert group.max_slices == 12


def test_all_of_it_works_without_javascript(group: Group, now: datetime, visit: Visit) -> None:
    builders.make_slice(group, now, idle=None)
    page = visit("/", java_script_enabled=False)
    page.get_by_role("link", name="Groups", exact=True).click()
    page.get_by_role("link", name="tpu-v5-8").click()
    page.get_by_role("link", name="Drain", exact=True).click()
    page.get_by_label("Type the group's name").fill("tpu-v5-8")
    page.get_by_role("button", name="Drain").click()
    page.get_by_text("tpu-v5-8 is draining.").wait_for()
    page.get_by_role("button", name="Dark theme").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"


def test_the_keyboard_reaches_everything(group: Group, now: datetime, live: Visit) -> None:
    builders.make_job(now, "job-a", priority=200)
    builders.make_job(now, "job-b")
    page = live("/")
    page.keyboard.press("?")
    page.get_by_role("heading", name="Keyboard").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("heading", name="Keyboard").wait_for(state="hidden")
    page.keyboard.press("g")
    page.keyboard.press("d")
    page.wait_for_url("**/demand/")
    page.wait_for_selector('html[data-live="on"]', state="attached")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/demand/demo:job-b/")


def test_the_first_tab_skips_to_the_content(group: Group, visit: Visit) -> None:
    page = visit("/groups/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_silence_of_the_cycle_appears_by_itself(group: Group, now: datetime, live: Visit, settings: Any) -> None:
    settings.IRIS_CYCLE_SECONDS = 0.5
    Loop.objects.all().delete()
    builders.make_cycle(builders.before(clock.now(), 11))
    page = live("/")
    banner = page.locator("#banner-stale")
    assert banner.is_hidden()
    banner.get_by_text("Stale: no cycle has run").wait_for(timeout=10_000)
