"""Signing in, showing again who one is and changing one's password, in a real browser."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from iris_web.login.configured import Oidc
from scaling.models import Action, Deployment, Group
from scaling.testing import sample_deployments
from tests.browser.test_pages import in_both_themes

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
Visit = Callable[..., "Page"]
PASSWORD = "long-enough-1"


def test_the_pages_of_access_read_well_in_every_width_and_theme(group: Group, visit: Visit, settings: Any) -> None:
    settings.IRIS_OIDC = Oidc("https://login.example", "iris", label="the company's login")
    page = visit("/", "admin", reduced_motion="reduce")
    root, found = page.url.rstrip("/"), []
    for path in ("/password/", "/confirm/?next=/admin/auth/user/add/", "/login/?next=/groups/"):
        if path.startswith("/login/"):
            page.context.clear_cookies()
        for width in (380, 1440):
            page.set_viewport_size({"width": width, "height": 860})
            page.goto(root + path)
            found += in_both_themes(page)
            page.emulate_media(color_scheme="light")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, width)
    assert found == []


def test_an_admin_shows_who_they_are_by_keyboard_before_a_person_is_made(
    group: Group, visit: Visit, settings: Any
) -> None:
    settings.IRIS_CONFIRM_MINUTES = 0
    page = visit("/admin/auth/user/add/", "admin")
    assert "/confirm/" in page.url
    settings.IRIS_CONFIRM_MINUTES = 10
    expect(page.locator("input[type=password]")).to_be_focused()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin/auth/user/add/", timeout=30_000)
    assert page.get_by_label("Username").is_visible()
    page.get_by_label("Password:").fill("plenty-of-room-9")
    page.get_by_role("button", name="Show").click()
    assert page.locator("#id_password, #id_again").evaluate_all("all => all.map(one => one.type)") == ["text", "text"]
    page.goto(page.url.replace("/auth/user/", "/scaling/apitoken/"))
    page.get_by_label("Name:").fill("ci-bot")
    page.get_by_label("Role:").select_option("viewer")
    page.keyboard.press("Enter")
    secret = page.locator("#secret").inner_text()
    page.reload()
    assert page.locator("#secret").inner_text() == secret
    page.get_by_role("button", name="Copy").click()
    expect(page.locator("#secret-said")).to_have_text("Copied.", timeout=30_000)
    page.get_by_role("button", name="Done").click()
    page.wait_for_url("**/apitoken/", timeout=30_000)
    page.go_back()
    expect(page.get_by_text("revoke the token and make another")).to_be_visible(timeout=30_000)


def test_someone_changes_their_password_by_keyboard_on_a_phone(group: Group, visit: Visit) -> None:
    page = visit("/", "viewer", viewport={"width": 380, "height": 800})
    for text in page.get_by_title("Your password").locator("b, small").all():
        expect(text).to_be_visible(timeout=30_000)
        expect(text).to_have_text("viewer")
    page.get_by_title("Your password").press("Enter")
    page.wait_for_url("**/password/", timeout=30_000)
    expect(page.locator("input[type=password]").first).to_be_focused()
    for text in (PASSWORD, "another horse battery", "another horse battery"):
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text("Your password is changed").wait_for(timeout=30_000)


def end_session_and_send(page: "Page", button: str) -> None:
    """Sends the form without a session, and signs in on the page that this leads to."""
    session = next(one for one in page.context.cookies() if one["name"] == "sessionid")
    page.context.clear_cookies()
    page.get_by_role("button", name=button).click()
    expect(page.get_by_text("Your session had ended: nothing was done.")).to_be_visible(timeout=30_000)
    page.context.add_cookies([session])
    page.reload()


def test_what_was_typed_when_the_session_ended_is_back_after_the_login_and_nothing_was_done(
    group: Group, now: datetime, visit: Visit
) -> None:
    sample_deployments.make_deployment("chat", now)
    page = visit("/deployments/chat/pause/", "operator")
    page.get_by_label("Reason").fill("the rack is hot")
    page.locator("input[type=radio][value=down]").check()
    end_session_and_send(page, "Pause")
    expect(page.get_by_label("Reason")).to_have_value("the rack is hot", timeout=30_000)
    assert page.locator("input[type=radio]:checked").get_attribute("value") == "down"
    expect(page.get_by_text("nothing was done. What you typed is here again")).to_be_visible()
    assert not Action.objects.filter(kind="pause").exists()
    page.get_by_role("button", name="Pause").click()
    page.wait_for_url("**/deployments/chat/", timeout=30_000)
    assert Deployment.objects.get().pause_direction == "down"
    page.goto(page.url + "pause/")
    assert page.get_by_text("What you typed is here again").count() == 0


def test_what_somebody_else_changed_meanwhile_is_not_typed_over_after_a_login(group: Group, visit: Visit) -> None:
    page = visit("/groups/tpu-v5-8/limits/", "admin")
    page.get_by_label("Priority").fill("7")
    page.get_by_label("Max slices").fill("5")
    Group.objects.update(max_slices=99, version=group.version + 1)
    end_session_and_send(page, "Review")
    expect(page.get_by_label("Priority")).to_have_value("7", timeout=30_000)
    expect(page.get_by_label("Max slices")).to_have_value("99")
    expect(page.get_by_text("but where somebody changed it meanwhile")).to_be_visible()
