"""Keys on a live page."""

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


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
