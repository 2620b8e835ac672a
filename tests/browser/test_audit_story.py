"""Who did this, and why? The history in a real browser, with the keyboard alone."""

import csv
import io
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from scaling.models import Action, Group
from scaling.testing import builders
from tests.browser.test_acts_stories import press, to, type_in

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
Visit = Callable[..., "Page"]


@pytest.fixture
def drain(group: Group, now: datetime) -> Action:
    """A drain with what followed from it, between acts that have nothing to do with it."""
    builders.make_action("drain", builders.before(now, 9_000), group="other", actor_kind="user", actor="bo",
                         source="page", reason="rack 9")  # fmt: skip
    cause = builders.make_action("drain", builders.before(now, 7_200), group=group.name, actor_kind="user", actor="ana",
                                 source="page", reason="rack 4 is moved")  # fmt: skip
    for number in range(3):
        builders.make_action("scale_down", builders.before(now, 3_600 - number), group=group.name, cause=cause,
                             slice=f"tpu-v5-8-{number}", reason="drained and idle")  # fmt: skip
        builders.make_action("slice_ready", builders.before(now, 1_800), group="other", reason="booted")
    return cause


def test_an_action_is_found_by_filter_its_cause_opened_and_the_set_exported(
    drain: Action, live: Visit, tmp_path: Path
) -> None:
    page = live("/actions/", "viewer")
    type_in(page, "Search", "idle")
    to(page, page.locator("select[name=kind]"))
    page.keyboard.type("scale down")
    press(page, page.get_by_role("button", name="Show", exact=True))
    page.wait_for_url("**/actions/?*kind=scale_down*")
    page.get_by_text("3 actions").wait_for()
    assert page.locator("#actions-rows tr").count() == 3
    to(page, page.get_by_role("link", name="CSV"))
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    download.value.save_as(tmp_path / "set.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "set.csv").read_text("utf-8-sig"))))
    assert [(row["kind"], row["cause"]) for row in rows] == [("scale_down", str(drain.pk))] * 3
    press(page, page.locator("#actions-rows th a").first)
    page.get_by_role("heading", name="Cause and effects").wait_for()
    press(page, page.locator(".story .step").first.get_by_role("link", name="drain"))
    page.wait_for_url(f"**/actions/{drain.pk}/")
    page.get_by_text("rack 4 is moved").first.wait_for()
    assert page.locator("#effects > li").count() == 3
