"""Rows of a live list: they come in by themselves, and wait while somebody reads."""

import pytest
from playwright.sync_api import Page, expect

from scaling import feed
from tests.live.live_page import publish, rows, seen, soon

pytestmark = pytest.mark.browser


def test_new_rows_appear_at_the_top_while_nobody_reads_the_list(at: Page) -> None:
    ids = [publish("rows", "row", text=str(n)) for n in range(3)]
    soon(lambda: rows(at) == ids[::-1])


def test_rows_that_come_while_the_pointer_is_over_the_list_wait_behind_a_button(at: Page) -> None:
    old = [publish("rows", "row") for _ in range(5)]
    soon(lambda: len(rows(at)) == 5)
    at.locator(f"#row-{old[2]}").hover()
    place = at.locator(f"#row-{old[2]}").bounding_box()
    new = [publish("rows", "row") for _ in range(12)]
    button = at.get_by_role("button", name="12 new")
    expect(button).to_be_visible()
    assert rows(at) == old[::-1]
    assert at.locator(f"#row-{old[2]}").bounding_box()["y"] == pytest.approx(place["y"], abs=1)
    button.click()
    soon(lambda: rows(at) == (old + new)[::-1])
    expect(button).to_be_hidden()


def test_waiting_rows_come_in_by_themselves_when_the_pointer_leaves(at: Page) -> None:
    first = publish("rows", "row")
    soon(lambda: rows(at) == [first])
    at.locator(f"#row-{first}").hover()
    second = publish("rows", "row")
    expect(at.get_by_role("button", name="1 new")).to_be_visible()
    at.mouse.move(0, 0)
    soon(lambda: rows(at) == [second, first])


def test_a_row_with_the_focus_holds_the_list(at: Page) -> None:
    first = publish("rows", "row")
    soon(lambda: rows(at) == [first])
    at.keyboard.press("j")
    assert at.evaluate("document.activeElement.id") == f"row-{first}"
    publish("rows", "row")
    expect(at.get_by_role("button", name="1 new")).to_be_visible()
    assert rows(at) == [first]


def test_a_list_that_is_scrolled_past_its_top_holds_its_rows(at: Page) -> None:
    old = [publish("rows", "row") for _ in range(60)]
    soon(lambda: len(rows(at)) == 60)
    at.mouse.move(0, 0)
    at.locator(f"#row-{old[0]}").scroll_into_view_if_needed()
    place = at.locator(f"#row-{old[0]}").bounding_box()
    last = publish("rows", "row")
    soon(lambda: last in seen(at))
    at.wait_for_timeout(500)
    assert rows(at) == old[::-1]
    assert at.locator(f"#row-{old[0]}").bounding_box()["y"] == pytest.approx(place["y"], abs=1)
    at.evaluate("scrollTo(0, 0)")
    soon(lambda: rows(at)[0] == last and len(rows(at)) == 60)


def test_more_rows_than_a_list_shows_are_counted_and_leave_no_gap(at: Page) -> None:
    old = [publish("rows", "row") for _ in range(3)]
    soon(lambda: len(rows(at)) == 3)
    at.locator(f"#row-{old[1]}").hover()
    new = [row.pk for row in feed.publish_many([("rows", "row", None)] * 100)]
    button = at.get_by_role("button", name="100 new")
    button.click()
    soon(lambda: rows(at) == new[::-1][:60])


def test_what_is_below_a_growing_list_does_not_move_under_the_pointer(at: Page) -> None:
    publish("rows", "row")
    at.set_viewport_size({"width": 1000, "height": 500})
    below = at.locator("#below")
    below.scroll_into_view_if_needed()
    at.evaluate("scrollTo(0, 60)")
    at.locator("#other").hover()
    before = at.locator("#other").bounding_box()
    for _ in range(3):
        publish("group:a")
    publish("rows", "row")
    at.wait_for_timeout(700)
    assert at.locator("#other").bounding_box()["y"] == pytest.approx(before["y"], abs=1)


def test_a_table_that_is_rendered_whole_keeps_its_order_while_it_is_read(at: Page) -> None:
    table = at.locator("#listthing tr")
    first = [publish("rows", "thing") for _ in range(3)]
    publish("table")
    expect(table).to_have_count(3)
    table.first.hover()
    second = publish("rows", "thing")
    publish("table")
    expect(at.get_by_role("button", name="1 changed")).to_be_visible()
    assert table.evaluate_all("all => all.map(r => r.id)") == [f"row-{pk}" for pk in first[::-1]]
    at.mouse.move(0, 0)
    expect(table.first).to_have_id(f"row-{second}")
    expect(table).to_have_count(4)
