"""Live pages in a real browser: what changes, what stays, and what happens to the connection."""

import re
import time
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from scaling import feed
from tests.live.client import cookie_of
from tests.live.pages import Counts
from tests.live.proxy import CUT, Wire
from tests.services.stack import LiveStack

pytestmark = pytest.mark.browser

RECORD = """
    window.seen = []; window.resyncs = 0;
    document.addEventListener("live:events", (e) => seen.push(...e.detail.events.map((one) => one.id)));
    document.addEventListener("live:resync", () => resyncs++);
    if (sessionStorage.hidden) Object.defineProperty(document, "hidden", { get: () => true, configurable: true });
"""


@pytest.fixture
def wire(live_stack: LiveStack) -> Iterator[Wire]:
    made = Wire(urlsplit(live_stack.url).port or 0)
    yield made
    made.close()


@pytest.fixture
def at(
    chromium_page: Page, wire: Wire, people: dict[str, User], counts: Counts, settings: LazySettings
) -> Iterator[Page]:
    """The tests' page, signed in and live; at the end the console must be clean."""
    settings.ROOT_URLCONF = "tests.live.urls"
    complaints: list[str] = []
    chromium_page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    chromium_page.on("pageerror", lambda error: complaints.append(str(error)))
    name, _, value = cookie_of(people["operator"]).partition("=")
    chromium_page.context.add_cookies([{"name": name, "value": value, "url": wire.url}])
    chromium_page.add_init_script(RECORD)
    chromium_page.goto(f"{wire.url}/test/")
    expect(chromium_page.locator("html")).to_have_attribute("data-live", "on")
    yield chromium_page
    assert [text for text in complaints if not CUT.search(text)] == []


def publish(topic: str, kind: str = "changed", **payload: object) -> int:
    return int(feed.publish(topic, kind, payload).pk)


def rows(page: Page) -> list[int]:
    """The ids of the rows that the list shows, top first."""
    return [
        int(name.removeprefix("row-")) for name in page.locator("#list tr").evaluate_all("all => all.map(r => r.id)")
    ]


def seen(page: Page) -> list[int]:
    return [int(cursor.rpartition("-")[2]) for cursor in page.evaluate("seen")]


def soon(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def desk_says(page: Page, count: int) -> None:
    expect(page.locator("#count")).to_have_text(f"desk {count}")


# What changes


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


def test_a_chart_is_drawn_takes_new_data_and_new_points(at: Page) -> None:
    canvas = at.locator("#chart canvas")
    expect(canvas).to_be_visible()
    at.evaluate("window.canvas = document.querySelector('#chart canvas')")
    publish("chart")
    expect(at.locator("figcaption")).to_have_text("31 points")
    expect(canvas).to_have_count(1)
    publish("chart", "sample", chart="chart", x=1_770_000_000, values=[1, 2])
    expect(canvas).to_be_visible()


# What stays


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


# Lists


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


# The connection


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


def hide(page: Page, hidden: bool) -> None:
    value = "true" if hidden else "false"
    page.evaluate(
        f"Object.defineProperty(document, 'hidden', {{get: () => {value}, configurable: true}});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )


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


# The keyboard


def test_keys_open_the_sheet_search_and_pages_but_not_while_typing(at: Page) -> None:
    at.keyboard.press("?")
    expect(at.locator("#keys")).to_be_visible()
    at.keyboard.press("Escape")
    at.keyboard.press("/")
    assert at.evaluate("document.activeElement.id") == "search"
    at.keyboard.type("gx?/")
    assert at.input_value("#search") == "gx?/"
    expect(at.locator("#keys")).to_be_hidden()
    at.keyboard.press("Escape")
    at.keyboard.press("g")
    at.keyboard.press("x")
    at.wait_for_url("**/test/?page=groups")
