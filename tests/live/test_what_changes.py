"""What changes on a live page: counters, times and forms, in place."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.live.live_page import desk_says, publish

pytestmark = pytest.mark.browser


def test_a_counter_changes_in_place_and_keeps_its_node(at: Page) -> None:
    at.evaluate("window.node = document.querySelector('.count')")
    publish("group:a")
    expect(at.locator(".count")).to_have_text("a changed 1 times for operator")
    assert at.evaluate("node === document.querySelector('.count')")


def test_times_tick_and_know_the_local_zone(at: Page) -> None:
    expect(at.locator("time[data-age]")).to_have_text(re.compile(r"^[2-9] s$"), timeout=8000)
    expect(at.locator("time[data-countdown]")).to_have_text(re.compile(r"^1 min 2\d s$"))
    assert re.fullmatch(r"\d\d:\d\d:\d\d", at.locator("time[data-local]").inner_text())
    assert at.locator("time[data-local]").get_attribute("title").endswith(" UTC")


def test_a_form_in_a_fragment_can_be_sent_after_updates(at: Page) -> None:
    publish("desk")
    desk_says(at, 1)
    at.fill("#note", "hello")
    at.click("#send")
    expect(at.locator("body")).to_have_text("thanks for hello")
