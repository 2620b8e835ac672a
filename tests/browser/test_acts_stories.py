"""The acts of operators and admins, in a real browser and with the keyboard alone."""

import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from scaling import clock, operations
from scaling.history import Actor
from scaling.loops import queue, scheduler
from scaling.loops.autoscaler import creates, cycle, deletes, listing
from scaling.models import Action, Deployment, Group, Marker, Slice
from scaling.testing import builders
from scaling.testing.sample_deployments import Scene, make_deployment, tick
from scaling.testing.scripted_provisioner import ScriptedProvisioner
from tests.loops.autoscaler.conftest import ControlPlane, _inline, listed

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser
Visit = Callable[..., "Page"]
PATIENCE_MS = 30_000


def to(page: "Page", wanted: "Locator", key: str = "Tab", most: int = 120) -> None:
    """Press `key` until `wanted` has the focus, as someone without a mouse does."""
    wanted.wait_for()
    skip(page)
    for _ in range(most):
        if wanted.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press(key)
    raise AssertionError(f"the keyboard does not reach {wanted}")


def skip(page: "Page") -> None:
    """On a fresh page, to its content by the link that is there for it."""
    if page.evaluate("document.activeElement === document.body"):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.skip, .skip-to-content-link')"):
            page.keyboard.press("Enter")


def press(page: "Page", wanted: "Locator") -> None:
    to(page, wanted)
    page.keyboard.press("Enter")


def type_in(page: "Page", label: str, text: str) -> None:
    to(page, page.get_by_label(label).first)
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(text)


@pytest.fixture
def plane(group: Group, monkeypatch: pytest.MonkeyPatch) -> ControlPlane:
    """The real cycle and scheduler over a scripted cloud, which run when the test says so."""
    platform = ScriptedProvisioner(now=time.time)
    made = ControlPlane(platform, group.platform, clock.now)  # type: ignore[arg-type]
    for module in (listing, creates, deletes):
        monkeypatch.setattr(module, "provisioner", lambda _platform: platform)
    monkeypatch.setattr(cycle, "list_platforms", _inline)
    monkeypatch.setattr(queue, "enqueue", lambda task, *args, **_: made.queued.append((task, args)))
    for sender in (creates, deletes):
        monkeypatch.setattr(sender, "enqueue", lambda task, *args, **_: made.queued.append((task, args)))
        monkeypatch.setattr(sender.calls, "side_by_side", lambda call, items: ((item, call(item)) for item in items))
    return made


def test_a_limit_is_raised_in_the_admin_after_its_preview_and_the_job_starts(
    group: Group, plane: ControlPlane, now: datetime, live: Visit, visit: Visit
) -> None:
    Group.objects.update(max_slices=1)
    full = builders.make_slice(group, now, idle=None, name="tpu-v5-8-full")
    listed(plane, full)
    runs = builders.make_job(now, "runs", pending_tasks=0, running_tasks=1, state="running")
    builders.make_task(runs, full.workers.get(), now)
    job = builders.make_job(now, "train")
    plane.cycle()
    assert Slice.objects.count() == 1
    watched = live("/demand/demo:train/", "viewer")
    watched.get_by_text("CAPACITY_EXCEEDED").first.wait_for()
    page = visit(f"/admin/scaling/group/{group.pk}/change/", "admin")
    type_in(page, "Max slices", "2")
    type_in(page, "Reason", "release night")
    press(page, page.get_by_role("button", name="Review the change", exact=True))
    page.get_by_text("It unblocks 1 job").wait_for()
    page.get_by_text("asks for 1 new slice").wait_for()
    assert Group.objects.get().max_slices == 1, "a preview is no act"
    page.go_back()
    expect(page.get_by_label("Max slices")).to_have_value("2", timeout=PATIENCE_MS)
    expect(page.get_by_label("Reason")).to_have_value("release night")
    press(page, page.get_by_role("button", name="Review the change", exact=True))
    page.get_by_text("asks for 1 new slice").wait_for()
    press(page, page.get_by_role("button", name="Save", exact=True))
    page.get_by_text("was changed successfully").wait_for()
    plane.cycle()
    plane.platform.make_ready()
    plane.cycle()
    scheduler.run(clock.now())
    job.refresh_from_db()
    assert (job.pending_tasks, job.running_tasks) == (0, 1)
    watched.locator("main").get_by_text("running").first.wait_for(timeout=PATIENCE_MS)
    edit = Action.objects.get(kind="set_limits")
    assert (edit.source, edit.actor, edit.reason, edit.after) == ("admin", "admin", "release night", {"max_slices": 2})


def test_a_busy_group_is_drained_by_the_keyboard_and_taken_back(group: Group, now: datetime, live: Visit) -> None:
    row = builders.make_slice(group, now, idle=None, name="tpu-v5-8-busy")
    builders.make_task(builders.make_job(now, "train", pending_tasks=0), row.workers.get(), now)
    page = live("/groups/tpu-v5-8/")
    press(page, page.get_by_role("link", name="Drain", exact=True))
    page.get_by_text("It will hit 1 slice and 1 task of 1 job").wait_for()
    page.get_by_text("available → draining").wait_for()
    type_in(page, "Reason", "rack 4 is moved")
    type_in(page, "Type the group's name", "tpu-v5-8")
    page.keyboard.press("Enter")
    page.get_by_text("tpu-v5-8 is draining.").wait_for()
    press(page, page.locator(".notice").get_by_role("link", name="Undo"))
    page.get_by_text("It serves again and may grow.").wait_for()
    page.get_by_text("draining → available").wait_for()
    press(page, page.get_by_role("button", name="Undo it"))
    page.get_by_text("Taken back: drain tpu-v5-8.").wait_for()
    group.refresh_from_db()
    assert group.drain_since is None
    assert list(Action.objects.order_by("id").values_list("kind", flat=True)) == ["drain", "undrain"]


def test_an_act_waits_for_the_planner_who_can_be_asked_again(group: Group, now: datetime, live: Visit) -> None:
    builders.make_slice(group, now)
    page, questions = live("/groups/tpu-v5-8/"), []
    page.route("**/drain/?preview=part", lambda route: questions.append(route))
    page.get_by_role("link", name="Drain", exact=True).click()
    waiting = page.get_by_role("button", name="Drain", disabled=True)
    waiting.wait_for()
    page.get_by_text("Asking the planner what the next cycle would do").wait_for()
    type_in(page, "Reason", "rack 4 is moved")
    page.keyboard.press("Enter")
    page.get_by_text("It can be sent once the planner has answered.").wait_for()
    questions[0].fulfill(status=409, body="the planner is away")
    page.get_by_text("The planner gave no answer.").wait_for()
    page.get_by_role("button", name="Drain", disabled=False).wait_for()
    page.unroute("**/drain/?preview=part")
    press(page, page.get_by_role("button", name="Ask again"))
    page.get_by_text("available → draining").wait_for()
    assert page.get_by_label("Reason").input_value() == "rack 4 is moved" and not Action.objects.exists()
    page.get_by_role("button", name="Drain", disabled=False).click()
    page.get_by_text("tpu-v5-8 is draining.").wait_for()


def test_an_answer_is_not_missed_by_a_script_that_comes_late(group: Group, live: Visit) -> None:
    page, scripts = live("/groups/tpu-v5-8/"), []
    page.route("**/js/preview*.js", lambda route: scripts.append(route))
    page.get_by_role("link", name="Drain", exact=True).click(no_wait_after=True)
    page.get_by_text("Asking the planner what the next cycle would do").wait_for()
    while not scripts:
        page.wait_for_timeout(50)
    page.wait_for_timeout(300)
    scripts[0].continue_()
    page.get_by_text("available → draining").wait_for()
    page.get_by_role("button", name="Drain", disabled=False).wait_for()


def test_a_deployment_is_paused_with_an_end_by_the_keyboard(group: Group, now: datetime, live: Visit) -> None:
    tick(make_deployment("chat", now), now, Scene(healthy=4))
    page = live("/deployments/chat/pause/")
    to(page, page.get_by_role("radio", name="Everything"))
    page.keyboard.press("ArrowDown")
    to(page, page.get_by_label("For", exact=True))
    page.keyboard.type("1 hour")
    type_in(page, "Reason", "load test")
    page.keyboard.press("Enter")
    page.get_by_text("chat is paused.").wait_for()
    page.locator("#order-pause").get_by_text("load test").wait_for()
    chat = Deployment.objects.get()
    assert chat.pause_direction == "up" and chat.pause_until is not None
    assert 0 < (chat.pause_until - now).total_seconds() <= 3_600 + 120


def test_a_stock_out_is_acknowledged_by_the_keyboard_and_recorded(group: Group, now: datetime, live: Visit) -> None:
    marker = builders.make_marker(group, now, message="no more v5p here")
    other = live("/", "viewer")
    other.get_by_text("1 not acknowledged").wait_for()
    page = live(f"/stockouts/{marker.pk}/acknowledge/")
    type_in(page, "Note", "ticket 4711, back tonight")
    press(page, page.get_by_role("button", name="Acknowledge"))
    page.get_by_text("The stockout of tpu-v5-8 is acknowledged.").wait_for()
    other.get_by_text("all acknowledged").wait_for(timeout=PATIENCE_MS)
    action = Action.objects.get()
    assert (action.kind, action.reason, action.actor) == ("acknowledge", "ticket 4711, back tonight", "operator")
    press(page, page.locator(".notice").get_by_role("link", name="Undo"))
    press(page, page.get_by_role("button", name="Undo it"))
    page.get_by_text("Taken back: acknowledge").wait_for()
    other.get_by_text("1 not acknowledged").wait_for(timeout=PATIENCE_MS)
    assert Marker.objects.get().acknowledged_at is None
    # Gone back to, the form has what is stored now: older words would else be sent as if that had been seen.
    page.get_by_role("link", name="Acknowledge").click()
    page.get_by_label("Note").fill("no news")
    page.get_by_role("button", name="Acknowledge").click()
    page.get_by_text("The stockout of tpu-v5-8 is acknowledged.").wait_for()
    operations.acknowledge_marker(Actor.user("operator"), marker.pk, "back at nine")
    page.go_back()
    expect(page.get_by_label("Note")).to_have_value("back at nine", timeout=PATIENCE_MS)


@pytest.mark.parametrize("place", ["page", "admin"])
def test_of_two_people_who_edit_one_group_the_second_is_told(place: str, group: Group, visit: Visit) -> None:
    path = {"page": "/groups/tpu-v5-8/limits/", "admin": f"/admin/scaling/group/{group.pk}/change/"}[place]
    go = "Review the change"
    first, second = visit(path, "admin"), visit(path, "admin")
    type_in(first, "Max slices", "20")
    press(first, first.get_by_role("button", name=go, exact=True))
    first.get_by_role("button", name="Save", exact=True).wait_for()
    type_in(second, "Max slices", "12")
    type_in(second, "Priority", "7")
    press(first, first.get_by_role("button", name="Save", exact=True))
    first.get_by_text("changed").first.wait_for()
    press(second, second.get_by_role("button", name=go, exact=True))
    second.get_by_text("from 8 to 20").first.wait_for()
    assert second.get_by_label("Max slices").input_value() == "12", "what was typed is kept"
    second.get_by_text({"page": "now stored: 20", "admin": "Stored now: 20."}[place]).first.wait_for()
    group.refresh_from_db()
    assert (group.max_slices, group.priority) == (20, 100), "nothing was overwritten"
    press(second, second.get_by_role("button", name=go, exact=True))
    second.get_by_label("Max slices").wait_for(state="hidden")
    press(second, second.get_by_role("button", name="Save", exact=True))
    second.get_by_text("changed").first.wait_for()
    group.refresh_from_db()
    assert (group.max_slices, group.priority, group.version) == (12, 7, 3)
