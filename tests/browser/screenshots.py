"""Takes the pictures of docs/images from a running Iris: `python -m tests.browser.screenshots URL NAME PASSWORD`.

They look best on the demonstration after some minutes, when slices boot, one zone is out of stock and jobs wait.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.services.chromium import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

FOLDER = Path(__file__).resolve().parents[2] / "docs/images"
DESK: "ViewportSize" = {"width": 1440, "height": 900}
PHONE: "ViewportSize" = {"width": 380, "height": 800}
WIDE: "ViewportSize" = {"width": 2560, "height": 780}
ON_A_PHONE = ("overview", "group", "job", "deployments")
SETTLE_MS = 600


def main(url: str, name: str, password: str) -> None:
    with chromium() as browser:
        page = browser.new_page(viewport=DESK, color_scheme="light")
        sign_in(page, url, name, password)
        paths = pictures(page, url)
        for title, path in paths.items():
            shoot(page, url + path, f"{title}.png")
        search(page, url)
        page.emulate_media(color_scheme="dark")
        shoot(page, url, "overview-dark.png")
        page.set_viewport_size(PHONE)
        for title in ON_A_PHONE:
            page.emulate_media(color_scheme="dark" if title == "job" else "light")
            shoot(page, url + paths[title], f"{title}-phone.png")
        page.set_viewport_size(WIDE)
        shoot(page, url, "overview-wide.png")


def pictures(page: "Page", url: str) -> dict[str, str]:
    """Title and address of each, with a group, a job and a deployment that have something to tell."""
    job = address(page, f"{url}/demand/?code=tier_blocked", "#jobs-rows th a") or "/demand/"
    group = address(page, f"{url}/groups/?outcome=STOCKOUT&sort=-held", "#groups-rows th a") or "/groups/"
    deployment = address(page, f"{url}/deployments/", "#deployments-rows th a") or "/deployments/"
    return {
        "overview": "/", "group": group, "job": job, "stockouts": "/stockouts/", "actions": "/actions/",
        "drain": f"{group}drain/", "deployments": "/deployments/", "deployment": deployment,
    }  # fmt: skip


def search(page: "Page", url: str) -> None:
    page.goto(url)
    page.keyboard.press("Control+k")
    page.keyboard.type("v5p")
    page.locator("#find [data-hit]").first.wait_for()
    page.screenshot(path=str(FOLDER / "search.png"))


def sign_in(page: "Page", url: str, name: str, password: str) -> None:
    page.goto(f"{url}/login/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{url}/")


def address(page: "Page", listing: str, first: str) -> str:
    """Where the first row of a list leads, "" when it has none."""
    page.goto(listing)
    links = page.locator(first)
    return links.first.get_attribute("href") or "" if links.count() else ""


def shoot(page: "Page", address: str, file: str) -> None:
    page.goto(address)
    page.wait_for_timeout(SETTLE_MS)
    page.screenshot(path=str(FOLDER / file))


if __name__ == "__main__":
    main(*sys.argv[1:4])
