"""Debian's Chromium, driven by playwright."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.services.programs import find

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Chromium draws the suggestions of its address bar as pages, for each page that is opened and though nobody sees them
# in headless mode: two thirds of the processor's time. The others the driver turns off; the last list alone counts.
UNUSED_FEATURES = (
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxPopup",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "OptimizationHints",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "Translate",
)
ARGUMENTS = (
    f"--disable-features={','.join(UNUSED_FEATURES)}",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def executable() -> str:
    """The path of Chromium or Chrome; raises MissingProgramError."""
    return find("chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")


@contextmanager
def chromium() -> Iterator["Browser"]:
    """Yields one headless browser; contexts of it are cheap, so one serves a whole run."""
    path = executable()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()
