"""Every page in a real browser: nothing serious for axe, light and dark; nothing wider than the window."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from scaling.models import Action, Group, Job, Marker, QuotaPool, Slice
from scaling.testing import builders, sample_cluster
from tests.services.stack import LiveStack

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
Visit = Callable[..., "Page"]
AXE = (Path(__file__).parent / "vendor/axe.min.js").read_text()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OF_COLOUR = ["color-contrast", "link-in-text-block"]
# Django's own admin pages are checked for what is serious; their minor habits are not ours.
SERIOUS = ("serious", "critical")
WIDTHS = (380, 768, 1024, 1440, 2560)


@pytest.fixture
def paths(live_stack: LiveStack, now: datetime) -> list[str]:
    """The pages of a large cluster on which something of everything is the case."""
    groups = sample_cluster.tpu_cluster(now, jobs=60)
    group, pool = groups[5], QuotaPool.objects.first()
    Group.objects.filter(pk=group.pk).update(
        drain_since=now, drain_by="ana", drain_reason="rack", pause_since=now, pause_by="bo"
    )
    builders.make_installation(demonstration=True, halted_since=now, halted_by="ana", halted_reason="fire drill")
    job = Job.objects.filter(hint__code="tier_blocked").first()
    busy = Slice.objects.filter(state="READY", idle_since__isnull=True, group__workers_per_slice__lte=8).first()
    marker, action = Marker.objects.first(), Action.objects.order_by("id").last()
    assert job and busy and marker and action and pool
    reason = f"for waiting tasks of {job.job_id} and 2 more jobs (TPU-v5p-8)"
    builders.make_action("scale_up", now, group=group.name, job=job.job_id, target="source demo", reason=reason)
    return [
        "/", "/groups/", f"/groups/{group.name}/", f"/groups/{busy.group.name}/",  # type: ignore[union-attr]
        f"/groups/{busy.group.name}/drain/", f"/groups/{group.name}/limits/", f"/groups/{group.name}/pause/",  # type: ignore[union-attr]
        f"/slices/{busy.name}/", "/demand/", f"/demand/{job.source}:{job.job_id}/", "/stockouts/",
        f"/stockouts/{marker.pk}/acknowledge/", f"/stockouts/{marker.pk}/hold/", "/actions/?kind=set_limits",
        "/actions/?kind=scale_up&from=2026-01-01",
        f"/actions/{action.pk}/", "/settings/", "/settings/halt/", "/groups/?q=nothing&outcome=bad",
        "/admin/", f"/admin/scaling/group/{group.pk}/change/", "/admin/scaling/group/", "/admin/scaling/apitoken/add/",
        f"/admin/scaling/quotapool/{pool.pk}/change/", "/admin/auth/user/add/",
    ]  # fmt: skip


def violations(page: "Page", rules: Sequence[str] = RULES) -> list[str]:
    """What axe finds serious, one line each. The policy stays on: what the driver evaluates is outside of it.

    Nothing is preloaded, for axe writes imported stylesheets into documents of its own, which the policy forbids. The
    one rule that needs it is tested below.
    """
    page.evaluate(AXE)
    found: list[dict[str, Any]] = page.evaluate(
        "rules => axe.run(document, {runOnly: rules, resultTypes: ['violations'], preload: false})"
        ".then((r) => r.violations)",
        rules,
    )
    return [
        f"{item['id']}: {node['target']} {node['failureSummary'][:300]}"
        for item in found
        if item["impact"] in SERIOUS
        for node in item["nodes"][:3]
    ]


def in_both_themes(page: "Page") -> list[str]:
    """Everything in light, and what depends on colour in dark."""
    page.emulate_media(color_scheme="light")
    found = violations(page)
    page.emulate_media(color_scheme="dark")
    return found + [f"dark {line}" for line in violations(page, OF_COLOUR)]


def test_no_stylesheet_locks_the_orientation() -> None:
    sheets = (Path(__file__).parents[2] / "static").rglob("*.css")
    assert [sheet.name for sheet in sheets if "orientation" in sheet.read_text()] == []


def test_axe_finds_nothing_serious(paths: list[str], visit: Visit) -> None:
    page = visit("/", "admin", reduced_motion="reduce")
    root = page.url.rstrip("/")
    found = {}
    for path in paths:
        page.goto(root + path)
        found[path] = in_both_themes(page)
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def test_axe_finds_nothing_serious_on_narrow_empty_and_open_pages(group: Group, visit: Visit) -> None:
    page = visit("/", "viewer", viewport={"width": 380, "height": 800}, reduced_motion="reduce")
    root = page.url.rstrip("/")
    found = {}
    for path in ("/", "/groups/", "/demand/", "/stockouts/", "/actions/", "/settings/", "/groups/tpu-v5-8/"):
        page.goto(root + path)
        found[path] = in_both_themes(page)
    page.keyboard.press("?")
    found["keys"] = in_both_themes(page)
    page.context.clear_cookies()
    page.goto(root + "/login/")
    found["login"] = in_both_themes(page)
    page.get_by_label("Name").fill("x")
    page.get_by_label("Password").fill("y")
    page.get_by_role("button", name="Sign in").click()
    found["refused"] = in_both_themes(page)
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def test_no_page_is_wider_than_the_window(paths: list[str], visit: Visit) -> None:
    page = visit("/", "admin")
    root = page.url.rstrip("/")
    wide = []
    for path in paths:
        page.goto(root + path)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            over = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            if over > 0 and not (path.startswith("/admin") and width < 768):
                wide.append((path, width, over))
    assert wide == []


def test_pages_with_names_of_any_length_hold_their_shape(group: Group, now: datetime, visit: Visit) -> None:
    long = "a" * 190
    builders.make_status(builders.make_group(long), now, "STOCKOUT", "x" * 400)
    builders.make_marker(Group.objects.get(name=long), now, message="y" * 600)
    job = builders.make_job(now, "j" * 190)
    builders.make_hint(job, now, "tier_blocked", "z" * 500)
    builders.make_action("drain", now, group=long, actor_kind="user", actor="u" * 140, reason="w" * 500)
    page = visit("/", viewport={"width": 390, "height": 800})
    root = page.url.rstrip("/")
    for path in (
        "/",
        "/groups/",
        f"/groups/{long}/",
        "/demand/",
        f"/demand/demo:{job.job_id}/",
        "/stockouts/",
        "/actions/",
    ):
        page.goto(root + path)
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0, path
