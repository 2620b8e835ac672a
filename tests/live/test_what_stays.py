"""What a person reads, types, selects, points at or has open stays while the rest of a live page changes."""

import time

import pytest
from playwright.sync_api import Page, expect

from tests.live.live_page import desk_says, publish, seen, soon

pytestmark = pytest.mark.browser


def test_a_field_with_the_focus_and_its_form_stay_while_the_rest_changes(at: Page) -> None:
    at.locator("#note").click()
    at.keyboard.type("abc")
    at.mouse.move(0, 0)
    for count in range(1, 4):
        publish("desk")
        desk_says(at, count)
    at.keyboard.type("def")
    assert at.input_value("#note") == "v0abcdef"
    assert at.locator("#send").inner_text() == "Send 0"
    expect(at.locator("#form")).to_have_attribute("data-live-held", "")
    at.locator("#note").fill("v0")
    at.locator("#note").blur()
    expect(at.locator("#send")).to_have_text("Send 3")
    expect(at.locator("#form")).not_to_have_attribute("data-live-held", "")


def test_typed_text_stays_though_the_focus_has_left(at: Page) -> None:
    at.fill("#note", "half a sentence")
    at.locator("#search").focus()
    publish("desk")
    desk_says(at, 1)
    at.wait_for_timeout(500)
    assert at.input_value("#note") == "half a sentence"


def test_selected_text_stays_selected(at: Page) -> None:
    at.evaluate("getSelection().selectAllChildren(document.getElementById('read'))")
    for count in range(1, 4):
        publish("desk")
        desk_says(at, count)
    assert at.evaluate("getSelection().toString()") == "Reading text number 0 takes a while."
    at.evaluate("getSelection().removeAllRanges()")
    expect(at.locator("#read")).to_have_text("Reading text number 3 takes a while.")


def test_a_dialog_stays_open_and_unchanged_through_a_hundred_updates(at: Page) -> None:
    at.evaluate("document.getElementById('ask').showModal()")
    last = 0
    for _ in range(100):
        last = publish("desk")
        time.sleep(0.02)
    soon(lambda: last in seen(at))
    desk_says(at, 100)
    assert at.locator("#ask-text").inner_text() == "Really, 0?"
    assert at.evaluate("document.getElementById('ask').matches(':modal')")
    at.evaluate("document.getElementById('ask').close()")
    expect(at.locator("#ask-text")).to_have_text("Really, 100?")


def test_kept_details_stay_as_they_are_and_others_stay_open_and_change(at: Page) -> None:
    at.locator("#kept summary").click()
    at.locator("#plain summary").click()
    at.locator("#search").focus()
    at.mouse.move(0, 0)
    publish("desk")
    expect(at.locator("#plain-text")).to_have_text("plain 1")
    expect(at.locator("#plain-text")).to_be_visible()
    assert at.locator("#kept-text").inner_text() == "kept 0"
    at.locator("#kept summary").click()
    at.mouse.move(0, 0)
    at.locator("#search").focus()
    expect(at.locator("#kept-text")).to_have_text("kept 1")


def test_the_row_under_the_pointer_stays_and_the_others_change(at: Page) -> None:
    at.locator("#card-b").hover()
    place = at.locator("#card-b").bounding_box()
    for count in range(1, 4):
        publish("desk")
        desk_says(at, count)
    assert at.locator("#card-b").inner_text() == "b 0"
    assert at.locator("#card-b").bounding_box() == place
    expect(at.locator("#card-a")).to_have_text("a 3")
    expect(at.locator("#card-b")).to_have_attribute("data-live-held", "")
    at.mouse.move(0, 0)
    expect(at.locator("#card-b")).to_have_text("b 3")


def test_the_focus_stays_on_a_button_of_a_changing_part(at: Page) -> None:
    at.locator("#other").focus()
    publish("desk")
    desk_says(at, 1)
    assert at.evaluate("document.activeElement.id") == "other"
