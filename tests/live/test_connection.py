"""A live page whose connection is lost, rests, ends with the session, or never was."""

import re
import time

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from tests.live.live_page import hide, publish, rows, seen, soon
from tests.live.proxy import Wire

pytestmark = pytest.mark.browser


def test_a_lost_connection_is_said_and_made_up_for_without_a_gap(at: Page, wire: Wire) -> None:
    ids = [publish("rows", "row") for _ in range(5)]
    soon(lambda: seen(at) == ids)
    wire.cut()
    bar = at.get_by_role("status")
    expect(bar).to_have_text(re.compile(r"Connection lost – showing the state of \d\d:\d\d:\d\d; retrying"))
    began = time.monotonic()
    while time.monotonic() - began < 6:
        ids.append(publish("rows", "row"))
        publish("desk")
        time.sleep(0.2)
    wire.mend()
    expect(bar).to_be_empty(timeout=15_000)
    for _ in range(5):
        ids.append(publish("rows", "row"))
    soon(lambda: len([pk for pk in seen(at) if pk in set(ids)]) >= len(ids))
    mine = [pk for pk in seen(at) if pk in set(ids)]
    assert mine == ids
    assert len(set(seen(at))) == len(seen(at))
    soon(lambda: rows(at) == ids[::-1][:60])
    assert at.evaluate("resyncs") == 0


def test_a_connection_that_is_silent_is_said_before_it_is_given_up(at: Page) -> None:
    at.clock.install()
    at.reload()
    expect(at.locator("html")).to_have_attribute("data-live", "on", timeout=30_000)
    at.evaluate("""() => { window.said = []; const bar = document.getElementById("live-bar");
        new MutationObserver(() => said.push(bar.textContent)).observe(bar, { childList: true }); }""")
    at.clock.fast_forward(12_000)
    soon(lambda: len(at.evaluate("said")) == 2)
    told, then = at.evaluate("said")
    assert re.fullmatch(r"No word from Iris – showing the state of \d\d:\d\d:\d\d; waiting", told)
    assert then == "", "the next sign of life takes it back"


def test_a_hidden_tab_rests_and_makes_up_for_it_when_it_is_seen(at: Page) -> None:
    hide(at, True)
    expect(at.locator("html")).to_have_attribute("data-live", "resting", timeout=10_000)
    ids = [publish("rows", "row") for _ in range(4)]
    at.wait_for_timeout(500)
    assert seen(at) == []
    expect(at.locator("#live-bar")).to_be_empty()
    hide(at, False)
    soon(lambda: seen(at) == ids)
    expect(at.locator("html")).to_have_attribute("data-live", "on")


def test_a_tab_that_was_opened_hidden_connects_when_it_is_seen(at: Page) -> None:
    at.evaluate("sessionStorage.hidden = '1'")
    at.reload()
    at.wait_for_timeout(6000)
    assert at.locator("html").get_attribute("data-live") == "resting"
    publish("group:a")
    hide(at, False)
    expect(at.locator(".count")).to_have_text("a changed 1 times for operator")


def test_a_session_that_ended_is_said_with_a_way_back(at: Page) -> None:
    Session.objects.all().delete()
    link = at.get_by_role("link", name="Log in")
    expect(link).to_be_visible(timeout=15_000)
    assert link.get_attribute("href") == "/login/?next=%2Ftest%2F"


def test_events_between_page_and_connection_are_not_missed(at: Page, wire: Wire) -> None:
    held = publish("rows", "row")
    soon(lambda: rows(at) == [held])
    at.route(
        "**/js/live.js", lambda route: (time.sleep(1), publish("rows", "row"), publish("group:a"), route.continue_())
    )
    at.reload()
    soon(lambda: len(rows(at)) == 2)
    expect(at.locator(".count")).to_have_text("a changed 1 times for operator")


def test_the_page_is_whole_without_javascript(at: Page, chromium_browser: object, wire: Wire) -> None:
    publish("rows", "row")
    publish("group:a")
    state = at.context.storage_state()
    context = chromium_browser.new_context(java_script_enabled=False, storage_state=state)  # type: ignore[attr-defined]
    page = context.new_page()
    page.goto(f"{wire.url}/test/")
    assert page.locator(".count").inner_text() == "a changed 1 times for operator"
    assert page.locator("#list tr").count() == 1
    expect(page.locator("#live-bar")).to_be_empty()
    context.close()
