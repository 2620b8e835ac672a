"""What one on call does with the pages: see capacity, find things and why they wait, read on while everything changes.

By keyboard alone where nothing else is said.
"""

import re
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from django.db import transaction
from playwright.sync_api import expect

from iris_web.pages import capacity_rows
from scaling import clock, feed
from scaling.history import Actor, record
from scaling.models import Action, Group, QuotaPool
from scaling.operations import groups
from scaling.testing import builders, sample_cluster
from tests.browser.test_pages import in_both_themes
from tests.live.proxy import CUT, Wire
from tests.services.stack import LiveStack

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
Visit = Callable[..., "Page"]
PATIENCE_MS = 30_000
# What a browser logs of a connection that is cut.
HEAR = """window.heard = []; window.resyncs = 0;
document.addEventListener("live:events", (e) => heard.push(...e.detail.events));
document.addEventListener("live:resync", () => resyncs++);"""


@pytest.fixture
def cluster(live_stack: LiveStack, now: datetime) -> list[Group]:
    groups = sample_cluster.tpu_cluster(now, jobs=30)
    builders.make_installation(demonstration=True)
    return groups


@pytest.fixture
def large(cluster: list[Group], monkeypatch: pytest.MonkeyPatch) -> list[Group]:
    """The same cluster drawn as one of thousands is."""
    monkeypatch.setattr(capacity_rows, "MAX_CELLS", 10)
    return cluster


@pytest.fixture
def wire(live_stack: LiveStack) -> Iterator[Wire]:
    made = Wire(urlsplit(live_stack.url).port or 0)
    yield made
    made.close()


def tab_to(page: "Page", selector: str, most: int = 150) -> None:
    """Press Tab from the beginning of the content, where its skip link leads, until the focus is on an element."""
    page.locator("main").focus()
    for _ in range(most):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {selector}")


def test_capacity_is_seen_and_leads_to_the_groups_of_a_place(cluster: list[Group], live: Visit) -> None:
    page = live("/", "viewer")
    expect(page.locator(".cell")).to_have_count(82)
    expect(page.locator(".over-capacity")).to_contain_text("82 groups in 10 zones")
    tab_to(page, "#place-tpu-v5p-us-central1-a a.zone")
    page.keyboard.press("Enter")
    page.wait_for_url("**/groups/?family=tpu%3Av5p&zone=us-central1-a")
    expect(page.locator("#groups-rows tr")).to_have_count(9)
    page.go_back()
    expect(page.locator(".cell")).to_have_count(82)


def test_many_groups_are_a_matrix_of_which_each_cell_leads_on(large: list[Group], live: Visit) -> None:
    page = live("/", "viewer")
    expect(page.locator(".matrix tbody tr")).to_have_count(5)
    cell = page.locator(".spot[title^='TPU v5p in us-central1-a']")
    assert "stockout" in (cell.get_attribute("title") or "")
    tab_to(page, ".spot[title^='TPU v5p in us-central1-a']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/groups/?family=tpu%3Av5p&zone=us-central1-a")


def test_one_finds_why_a_job_waits_and_goes_to_what_unblocks_it(group: Group, now: datetime, live: Visit) -> None:
    pool = QuotaPool.objects.create(name="v5/east", limit=64)
    Group.objects.filter(pk=group.pk).update(quota_pool=pool, max_slices=8)
    builders.make_status(group, now, "CAPACITY_EXCEEDED", also=("QUOTA_EXCEEDED",))
    job = builders.make_job(now, "train-llama", spec={"resources": {"tpu": {"variant": "v5p-8"}}, "tasks": 1})
    blocked_by = [{"group": group.name, "outcome": "CAPACITY_EXCEEDED", "until": None}]
    builders.make_hint(job, now, "tier_blocked", f"{group.name} CAPACITY_EXCEEDED", blocked_by=blocked_by)
    page = live("/", "admin")
    page.keyboard.press("Control+k")
    page.keyboard.type("llama")
    page.locator("#find [data-hit]").filter(has_text="train-llama").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**/demand/demo:train-llama/")
    page.get_by_text("The one group that fits it: capacity exceeded").wait_for()
    verdict = page.locator(f"#fits-{group.name}")
    expect(verdict).to_contain_text("Raise its max (now 8 slices)")
    expect(verdict).to_contain_text("And quota exceeded: Raise the limit of quota pool v5/east (now 64)")
    tab_to(page, f"a[href='/groups/{group.name}/limits/']")
    page.keyboard.press("Enter")
    page.get_by_label("Max slices").wait_for()


def test_the_search_is_walked_by_arrows_and_closed_by_escape(group: Group, now: datetime, live: Visit) -> None:
    builders.make_group("tpu-v5-8-east")
    page = live("/groups/")
    page.keyboard.press("Control+k")
    page.keyboard.type("tpu-v5")
    expect(page.locator("#find [data-hit]")).to_have_count(2)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent").startswith("tpu-v5-8-east")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.id") == "find-text"
    page.keyboard.press("Escape")
    expect(page.locator("#find")).to_be_hidden()
    page.locator(".find-button").click()
    expect(page.locator("#find-text")).to_have_value("tpu-v5")
    page.locator("#find").get_by_role("button", name="Close").click()
    expect(page.locator("#find")).to_be_hidden()


def test_the_search_works_without_javascript(group: Group, visit: Visit) -> None:
    page = visit("/", java_script_enabled=False)
    page.get_by_role("link", name="Search", exact=True).click()
    page.locator("main").get_by_label("Name or number").fill("v5-8")
    page.locator("main").get_by_role("button", name="Search").click()
    page.get_by_role("link", name=re.compile("^tpu-v5-8")).click()
    page.wait_for_url("**/groups/tpu-v5-8/")


def test_an_open_dialog_and_what_is_typed_in_it_outlast_a_hundred_updates(group: Group, live: Visit) -> None:
    page = live("/", "viewer")
    page.keyboard.press("Control+k")
    page.keyboard.type("tpu")
    page.locator("#find [data-hit]").wait_for()
    page.evaluate("window.dialog = document.getElementById('find'); window.hit = document.querySelector('[data-hit]')")
    for number in range(100):
        with transaction.atomic():
            record("scale_up", group=group.name, reason=f"deficit {number}")
            row = builders.make_slice(group, clock.now(), "BOOTING")
            feed.publish(f"slice:{row.name}", "slice", {})
    expect(page.locator("#figure-slices")).to_contain_text("100 coming", timeout=PATIENCE_MS)
    assert page.evaluate("window.dialog.open && window.dialog.isConnected && window.hit.isConnected")
    assert page.evaluate("document.activeElement.id") == "find-text"
    expect(page.locator("#find-text")).to_have_value("tpu")
    page.keyboard.press("Escape")
    expect(page.locator("#overview-actions")).to_contain_text("deficit 99", timeout=PATIENCE_MS)


@pytest.mark.parametrize("seconds", [0, pytest.param(30, marks=pytest.mark.long)])
def test_a_lost_connection_under_activity_misses_and_doubles_nothing(
    seconds: int, group: Group, wire: Wire, live_stack: LiveStack, people: dict[str, Any], chromium_page: "Page"
) -> None:
    """Cut until the page says so (0), and for half a minute in which people go on acting (30)."""
    page, complaints = chromium_page, []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.add_init_script(HEAR)
    page.goto(f"{wire.url}/login/")
    page.get_by_label("Name").fill("viewer")
    page.get_by_label("Password").fill("long-enough-1")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{wire.url}/")
    page.goto(f"{wire.url}/actions/")
    page.wait_for_selector('html[data-live="on"]', state="attached", timeout=PATIENCE_MS)

    act(group, 5)
    page.locator(f"#action-{done()[0]}").wait_for(timeout=PATIENCE_MS)
    wire.cut()
    began, before = time.monotonic(), len(done())
    act(group, 20)
    expect(page.locator(".live-bar")).to_contain_text("Connection lost", timeout=PATIENCE_MS)
    while time.monotonic() - began < seconds:
        act(group, 1)
        page.wait_for_timeout(300)
        assert page.locator("html").get_attribute("data-live") == "off", "it was cut all the time"
    act(group, 20)
    assert page.locator("[id^='action-'][data-row]").count() == before, "nothing came through"
    wire.mend()
    page.wait_for_selector('html[data-live="on"]', state="attached", timeout=PATIENCE_MS)
    act(group, 5)
    page.locator(f"#action-{done()[0]}").wait_for(timeout=PATIENCE_MS)
    expect(page.locator(".live-bar")).to_be_empty()
    ids = "all => all.map((row) => Number(row.id.replace('action-', '')))"
    shown = page.locator("[id^='action-'][data-row]").evaluate_all(ids)
    assert shown == done(), "every row once, newest first"
    heard = page.evaluate("heard")
    assert [one["payload"]["id"] for one in heard if one["kind"] == "action"] == done()[::-1], "each was told once"
    assert len({one["id"] for one in heard}) == len(heard) and page.evaluate("resyncs") == 0
    assert [text for text in complaints if not CUT.search(text)] == []


def act(group: Group, times: int) -> None:
    """An operator pauses and resumes the group, so many acts in all."""
    for _ in range(times):
        group.refresh_from_db()
        do = groups.resume_group if group.pause_since else groups.pause_group
        do(Actor.user("ada"), group.name, "the switch is replaced")


def done() -> list[int]:
    """The ids of all actions, newest first."""
    return list(Action.objects.order_by("-id").values_list("id", flat=True))


def test_axe_finds_nothing_serious_on_the_search_the_matrix_and_errors(large: list[Group], visit: Visit) -> None:
    page = visit("/", "viewer", reduced_motion="reduce")
    root, found = page.url.rstrip("/"), {}
    for path in ("/", "/search/", "/search/?q=v5p", "/search/?q=nowhere", "/demand/?tire=batch"):
        page.goto(root + path)
        found[path] = in_both_themes(page)
    page.keyboard.press("Control+k")
    page.keyboard.type("v5p")
    page.locator("#find [data-hit]").first.wait_for()
    found["the dialog"] = in_both_themes(page)
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def test_search_and_matrix_are_no_wider_than_the_window(large: list[Group], visit: Visit) -> None:
    page = visit("/", "viewer")
    root, wide = page.url.rstrip("/"), []
    for path in ("/", "/search/?q=v5p"):
        page.goto(root + path)
        for width in (380, 900, 1181, 2560):
            page.set_viewport_size({"width": width, "height": 900})
            over = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            wide += [(path, width, over)] if over > 0 else []
    assert wide == []
    page.goto(root)
    page.set_viewport_size({"width": 380, "height": 900})
    cards = page.locator(".over-stockouts, .over-waiting, .over-capacity, .over-actions")
    assert cards.evaluate_all("cards => new Set(cards.map(it => it.clientWidth)).size") == 1, "one below the other"
