"""The tests' page in a browser: what it is told, what it shows, and what it has seen."""

import time
from collections.abc import Callable

from playwright.sync_api import Page, expect

from scaling import feed

# Run in the page before any script of its own.
RECORD = """
    window.seen = []; window.resyncs = 0;
    document.addEventListener("live:events", (e) => seen.push(...e.detail.events.map((one) => one.id)));
    document.addEventListener("live:resync", () => resyncs++);
    if (sessionStorage.hidden) Object.defineProperty(document, "hidden", { get: () => true, configurable: true });
"""


def publish(topic: str, kind: str = "changed", **payload: object) -> int:
    return int(feed.publish(topic, kind, payload).pk)


def rows(page: Page) -> list[int]:
    """The ids of the rows that the list shows, top first."""
    return [
        int(name.removeprefix("row-")) for name in page.locator("#list tr").evaluate_all("all => all.map(r => r.id)")
    ]


def seen(page: Page) -> list[int]:
    return [int(cursor.rpartition("-")[2]) for cursor in page.evaluate("seen")]


def soon(condition: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def desk_says(page: Page, count: int) -> None:
    expect(page.locator("#count")).to_have_text(f"desk {count}")


def hide(page: Page, hidden: bool) -> None:
    value = "true" if hidden else "false"
    page.evaluate(
        f"Object.defineProperty(document, 'hidden', {{get: () => {value}, configurable: true}});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
