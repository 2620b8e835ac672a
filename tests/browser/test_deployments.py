"""Deployments in a real browser: pausing one with an expiry, live figures and charts, axe, and every width."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from django.db import transaction

from scaling import clock, feed
from scaling.models import Action, Deployment, ReplicaDecision
from scaling.replicas.decision import Outcome
from scaling.testing import builders
from scaling.testing import sample_deployments as sample
from scaling.testing.sample_deployments import Scene, make_deployment
from tests.browser.test_pages import WIDTHS, in_both_themes
from tests.services.stack import LiveStack

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
Visit = Callable[..., "Page"]


@pytest.fixture
def chat(live_stack: LiveStack, now: datetime) -> Deployment:
    """One deployment that keeps its targets, with an hour of samples."""
    builders.make_installation()
    builders.make_cycle(now)
    sample.make_instance(now)
    row = make_deployment("chat", now)
    sample.tick(row, now, Scene(healthy=4, p95=450, rps=36))
    sample.make_samples(row, now)
    return row


@pytest.fixture
def paths(live_stack: LiveStack, now: datetime) -> list[str]:
    """Every page and act of deployments, on a fleet on which something of everything is the case."""
    builders.make_installation()
    rows = sample.fleet(now)
    sample.make_source("gateway", now, "HTTP 401: DEPLOYMENT_SCALER_SERVICE_TOKEN is refused")
    sample.make_source("prometheus", now, "connection refused", stand_in="Iris")
    for scene in (Scene(p95=900, outcome=Outcome.REFUSED), Scene(p95=900, scaled_ago=20), Scene(healthy=6, failed=1)):
        sample.tick(rows[0], now, scene)
    sample.make_samples(rows[0], now)
    Deployment.objects.filter(pk=rows[0].pk).update(overrides={"max_replicas": 3, "min_replicas": 5})
    one = "/deployments/chat-large"
    return [
        "/deployments/", "/deployments/?state=held&sort=-latency", "/deployments/?q=nothing", f"{one}/",
        f"{one}/?range=7d", "/deployments/held-at-zero/", "/deployments/left-over/", "/deployments/not-listed/",
        "/deployments/embed-multi/", f"{one}/pause/", "/deployments/paused-both/resume/", f"{one}/scale/",
        f"{one}/scale/?replicas=99", f"{one}/scale/?replicas=0", "/deployments/held-at-zero/wake/", f"{one}/edit/",
        "/deployments/absent/forget/", "/",
    ]  # fmt: skip


def tell(row: Deployment, scene: Scene) -> None:
    """A tick as the scaler makes it: the picture, a decision and its events in one transaction."""
    with transaction.atomic():
        sample.tick(row, clock.now(), scene)
        feed.publish(f"deployment:{row.deployment_id}", "decision", {"id": row.deployment_id})
        feed.publish("deployments", "tick", {"instance": "iris-1", "deployments": 1})


def test_a_deployment_is_paused_with_an_expiry_and_resumed(chat: Deployment, live: Visit) -> None:
    other = live("/deployments/", "viewer")
    page = live("/deployments/chat/")
    page.get_by_role("link", name="Pause").click()
    page.get_by_text("It has 4 healthy and 0 coming replicas now, of 1 to 10.").wait_for()
    page.get_by_role("radio", name="Removing No healthy").check()
    page.get_by_label("For", exact=True).select_option("1h")
    page.get_by_label("Reason").fill("load test until noon")
    page.get_by_role("button", name="Pause").click()
    page.get_by_text("chat is paused.").wait_for()
    page.locator("#order-pause").get_by_text("Removing is paused").wait_for()
    page.locator("#order-pause").get_by_text("load test until noon").wait_for()
    page.locator("#order-pause time[data-countdown]").filter(has_text="59 min").wait_for()
    other.get_by_text("removing paused").wait_for(timeout=5_000)
    page.locator("#deployment-actions").get_by_text("load test until noon").wait_for(timeout=5_000)
    page.locator(".notice").get_by_role("link", name="Undo").click()
    page.get_by_role("button", name="Undo it").click()
    page.get_by_text("Taken back: pause chat.").wait_for()
    chat.refresh_from_db()
    assert chat.pause_direction == ""
    assert list(Action.objects.order_by("id").values_list("kind", "actor")) == [
        ("pause", "operator"), ("resume", "operator"),
    ]  # fmt: skip


def test_it_is_scaled_after_seeing_which_replicas_go(chat: Deployment, visit: Visit) -> None:
    page = visit("/deployments/chat/")
    page.get_by_role("link", name="Scale now").click()
    page.get_by_label("Replicas").fill("2")
    page.get_by_role("button", name="See what it does").click()
    page.get_by_text("It will stop 2 replicas").wait_for()
    page.get_by_text("healthy-2").wait_for()
    page.get_by_role("button", name="Scale to 2").click()
    page.locator("#order-wanted").get_by_text("Scaling to 2").wait_for()


def test_a_tick_changes_figures_list_and_decisions_before_ones_eyes(chat: Deployment, live: Visit) -> None:
    listing, page = live("/deployments/", "viewer"), live("/deployments/chat/", "viewer")
    page.evaluate("window.untouched = true")
    tell(chat, Scene(healthy=4, p95=910, rps=40))
    page.locator("#figure-latency").get_by_text("910").wait_for(timeout=5_000)
    page.locator("#why").get_by_text("The load is 1.82 times its target").wait_for(timeout=5_000)
    newest = ReplicaDecision.objects.order_by("-id").values_list("pk", flat=True).first()
    page.locator(f"#decision-{newest} summary").get_by_text("+4").wait_for(timeout=5_000)
    listing.locator("#deployments-rows").get_by_text("scaling up").wait_for(timeout=5_000)
    assert page.evaluate("window.untouched") is True, "the page was never loaded again"


def test_charts_are_drawn_follow_the_ticks_and_keep_still_under_the_pointer(chat: Deployment, live: Visit) -> None:
    asked: list[str] = []
    page = live("/deployments/chat/", "viewer")
    page.on("request", lambda request: asked.append(request.url) if "/series" in request.url else None)
    page.locator("#chart-replicas canvas").wait_for()
    assert page.locator("[data-plot] canvas").count() == 3
    legend = page.locator("#chart-latency .u-legend")
    assert re.search(r"latest, \d\d:\d\d:\d\d\s*p95\s*[0-9.]+ ms", legend.inner_text()), legend.inner_text()
    assert page.locator("#chart-latency figcaption").inner_text().startswith("p95 latency in the last 15 minutes: from")
    page.wait_for_timeout(5_100)
    tell(chat, Scene(healthy=4, p95=460, rps=36))
    page.wait_for_timeout(1_000)
    assert len(asked) == 1, "it is brought up to date with a tick"
    page.locator("#chart-rps .u-over").hover()
    page.wait_for_timeout(5_100)
    before = len(asked)
    tell(chat, Scene(healthy=4, p95=470, rps=36))
    page.locator("#figure-latency").get_by_text("470").wait_for(timeout=5_000)
    page.wait_for_timeout(500)
    assert len(asked) == before, "nothing is fetched while somebody points at a chart"
    page.mouse.move(5, 5)
    page.wait_for_timeout(500)
    assert len(asked) == before + 1


def test_zooming_in_shows_all_charts_so_and_a_button_leads_back(chat: Deployment, live: Visit) -> None:
    page = live("/deployments/chat/", "viewer")
    over = page.locator("#chart-latency .u-over")
    over.wait_for()
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 40, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + 60, steps=5)
    page.mouse.up()
    assert page.get_by_role("button", name="Whole range").count() == 3
    page.get_by_role("button", name="Whole range").first.click()
    assert page.get_by_role("button", name="Whole range").count() == 0


def test_the_range_is_a_link_and_back_works(chat: Deployment, live: Visit) -> None:
    page = live("/deployments/chat/", "viewer")
    page.get_by_role("link", name="1h").click()
    page.wait_for_url("**/deployments/chat/?range=1h#charts")
    page.locator("#chart-latency figcaption").get_by_text("in the last hour").wait_for()
    page.go_back()
    page.locator("#chart-latency figcaption").get_by_text("in the last 15 minutes").wait_for()


def test_all_of_it_works_without_javascript(chat: Deployment, visit: Visit) -> None:
    page = visit("/", java_script_enabled=False)
    page.get_by_role("link", name="Deployments", exact=True).click()
    page.get_by_role("row").get_by_role("link", name="chat").click()
    page.get_by_role("heading", name="Load and replicas").wait_for()
    page.get_by_role("link", name="Edit settings").count()
    page.get_by_role("link", name="Pause").click()
    page.get_by_role("radio", name="Adding Nothing").check()
    page.get_by_role("button", name="Pause").click()
    page.get_by_text("Adding is paused").wait_for()


def test_the_keyboard_leads_to_deployments_and_into_one(chat: Deployment, live: Visit) -> None:
    page = live("/")
    page.keyboard.press("g")
    page.keyboard.press("p")
    page.wait_for_url("**/deployments/")
    page.wait_for_selector('html[data-live="on"]', state="attached")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/deployments/chat/")


def test_axe_finds_nothing_serious(paths: list[str], visit: Visit) -> None:
    page = visit("/", "admin", reduced_motion="reduce")
    root = page.url.rstrip("/")
    found = {}
    for path in paths:
        page.goto(root + path)
        found[path] = in_both_themes(page)
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def test_no_page_is_wider_than_the_window(paths: list[str], visit: Visit) -> None:
    page = visit("/", "admin")
    root = page.url.rstrip("/")
    wide: list[Any] = []
    for path in paths:
        page.goto(root + path)
        for width in (*WIDTHS, 900, 1180, 1300):
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(30)
            over = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            if over > 0:
                wide.append((path, width, over))
    assert wide == []


def test_names_of_any_length_hold_the_shape(live_stack: LiveStack, now: datetime, visit: Visit) -> None:
    builders.make_installation()
    long = "a" * 190
    row = make_deployment(long, now, name="b" * 190, pause_direction="up", pause_by="c" * 140, pause_reason="d" * 480)
    sample.tick(row, now, Scene(error="e" * 300))
    sample.make_source("prometheus", now, "f" * 480)
    page = visit("/", "admin", viewport={"width": 390, "height": 800})
    root = page.url.rstrip("/")
    for path in ("/", "/deployments/", f"/deployments/{long}/", f"/deployments/{long}/scale/?replicas=0"):
        page.goto(root + path)
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0, path


def test_banners_that_wait_for_their_moment_leave_no_frame(chat: Deployment, visit: Visit, settings: Any) -> None:
    settings.LYC = replace(settings.LYC, gateway_url="http://gateway", gateway_token="t")
    sample.make_source("gateway", clock.now())
    page = visit("/deployments/")
    assert page.locator("#source-silent-gateway").count() == 1
    assert page.locator(".source-banners").is_hidden()
