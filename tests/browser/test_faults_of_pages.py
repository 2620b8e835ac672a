"""What one meets on small screens and in forms: nothing is cut off, no key acts unasked, no time lacks its zone."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from scaling import feed
from scaling.models import Group, Installation
from scaling.testing import builders

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
Visit = Callable[..., "Page"]
# Whether an element is seen whole: inside the window and not cut off by what is around it.
IS_WHOLE = """element => {
    const box = element.getBoundingClientRect();
    for (let up = element.parentElement; up; up = up.parentElement) {
        const around = up.getBoundingClientRect();
        const cuts = getComputedStyle(up).overflowX !== "visible";
        if (cuts && (box.right > around.right + 1 || box.left < around.left - 1)) return false;
    }
    return box.left >= 0 && box.right <= innerWidth;
}"""


@pytest.mark.parametrize("width", [360, 390, 768])
def test_every_page_of_the_navigation_is_in_sight_on_a_phone(width: int, group: Group, visit: Visit) -> None:
    page = visit("/", "admin", viewport={"width": width, "height": 800})
    links = page.locator(".nav a").all()
    assert len(links) >= 7 and all(link.evaluate(IS_WHOLE) for link in links)


@pytest.mark.parametrize("width", [380, 1181, 1440, 2560])
def test_acknowledge_is_never_cut_off_on_the_overview(width: int, group: Group, now: datetime, visit: Visit) -> None:
    builders.make_marker(group, now, "permanent", until=None, needs_person=True)
    builders.make_marker(group, now)
    page = visit("/", viewport={"width": width, "height": 900})
    links = page.get_by_role("link", name=re.compile("^Acknowledge (permanent|stockout)")).all()
    assert len(links) == 2 and all(link.evaluate(IS_WHOLE) for link in links)


def test_single_keys_are_turned_off_for_this_browser_and_on_again(group: Group, live: Visit) -> None:
    page = live("/settings/")
    switch = page.locator("#keyboard").get_by_label("Single keys act")
    switch.uncheck()
    page.reload()
    assert not switch.is_checked()
    page.locator("body").click(position={"x": 5, "y": 400})
    for key in ("?", "g", "d"):
        page.keyboard.press(key)
    assert page.url.endswith("/settings/") and not page.locator("dialog#keys").is_visible()
    page.get_by_role("button", name="Show the keys").click()
    page.get_by_role("heading", name="Keyboard", exact=True).last.wait_for()
    sheet = page.locator("dialog#keys").get_by_label("Single keys act")
    assert not sheet.is_checked()
    sheet.check()
    page.keyboard.press("Escape")
    assert switch.is_checked(), "both switches are one"
    page.locator("body").click(position={"x": 5, "y": 400})
    page.keyboard.press("?")
    page.locator("dialog#keys").wait_for()


def test_a_time_typed_in_utc_is_told_in_the_readers_zone(group: Group, visit: Visit) -> None:
    page = visit("/groups/tpu-v5-8/pause/", timezone_id="Asia/Tokyo", locale="en-GB")
    page.get_by_label("or until exactly, in UTC").fill("2030-01-31T22:30")
    page.get_by_text("= 1 Feb 2030, 07:30 in Asia/Tokyo").wait_for()


def test_the_words_of_the_halt_change_in_an_open_page(group: Group, now: datetime, live: Visit) -> None:
    page = live("/groups/tpu-v5-8/")
    page.get_by_text("available", exact=True).first.wait_for()
    Installation.objects.update(halted_since=now, halted_by="ana", halted_reason="fire drill")
    builders.make_status(group, now, "PAUSED")
    feed.publish("platforms", "halt", {"halted": True})
    page.get_by_text("halted", exact=True).first.wait_for(timeout=5_000)
    page.get_by_text("ordered by ana: fire drill").wait_for(timeout=5_000)
