"""Before an act changes what is bought or released, its page shows what the next cycle does with it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import pytest
from django.test import Client

from iris_web.access import Act
from iris_web.pages.acts import ActPage
from scaling import operations
from scaling.history import Actor
from scaling.models import Action, Deployment, Group
from scaling.previews import Preview
from scaling.previews.effects import GroupEffect
from scaling.testing import builders
from scaling.testing.sample_deployments import Scene, make_deployment, tick
from tests.pages.conftest import Get, words_of

SignIn = Callable[[str], Client]
GROUP, CHAT = "/groups/tpu-v5-8/", "/deployments/chat/edit/"


@pytest.fixture
def waiting(group: Group, now: datetime) -> Group:
    """A full group, and a job that waits for it."""
    Group.objects.update(max_slices=1)
    row = builders.make_slice(group, now, idle=None, name="busy")
    builders.make_task(builders.make_job(now, "runs", pending_tasks=0), row.workers.get(), now)
    builders.make_job(now, "train", tasks=2)
    return group


def limits_of(client: Client, **changed: object) -> dict[str, str]:
    """The form of the limits as it is sent with these changes."""
    shown = client.get(f"{GROUP}limits/")
    fields = {field.name: field.value for _, fields in shown.context["sections"] for field in fields}
    written = {name: str(value) for name, value in changed.items()}
    return {**fields, "version": str(shown.context["version"]), "base": shown.context["base"], **written}


def test_the_review_of_a_limit_says_which_jobs_it_unblocks(waiting: Group, sign_in: SignIn) -> None:
    client = sign_in("admin")
    fields = limits_of(client, max_slices=3)
    answer = client.post(f"{GROUP}limits/", {**fields, "step": "planned"})
    text = words_of(answer.content.decode())
    assert "It unblocks 1 job train groups blocked" in text
    assert "tpu-v5-8 asks for 2 new slices; capacity exceeded → available" in text
    seen = answer.context["seen"]
    assert seen == "tpu-v5-8=+2"
    assert client.post(f"{GROUP}limits/", {**fields, "step": "save", "seen": seen}).status_code == 302


def test_a_limit_that_would_now_do_more_than_was_shown_is_reviewed_again(
    waiting: Group, now: datetime, sign_in: SignIn
) -> None:
    client = sign_in("admin")
    fields = limits_of(client, max_slices=5)
    seen = client.post(f"{GROUP}limits/", {**fields, "step": "preview"}).context["seen"]
    builders.make_job(now, "more", tasks=2)
    answer = client.post(f"{GROUP}limits/", {**fields, "step": "save", "seen": seen})
    assert answer.status_code == 409 and not Action.objects.exists()
    text = words_of(answer.content.decode())
    assert "It would now do more than you were shown: 4 new slices in tpu-v5-8. Nothing was saved; look again." in text
    again = {**fields, "step": "save", "seen": answer.context["seen"]}
    assert client.post(f"{GROUP}limits/", again).status_code == 302


@pytest.mark.parametrize("way", ["undrain", "undo"])
def test_taking_back_a_drain_is_not_stopped_by_a_job_that_came_meanwhile(
    way: str, group: Group, now: datetime, sign_in: SignIn
) -> None:
    operations.drain_group(Actor.user("nina"), group.name, "wrong one", None)
    address = f"{GROUP}undrain/" if way == "undrain" else f"/actions/{Action.objects.get().pk}/undo/"
    client = sign_in("operator")
    shown = client.get(f"{address}?preview=1").context
    builders.make_job(now, "train", tasks=2)
    assert client.get(f"{address}?preview=1").context["seen"] == "tpu-v5-8=+2"
    sent = {"seen": shown["seen"], "version": str(shown["page"].version), "reason": "a mistake"}
    assert client.post(address, sent).status_code == 302


def test_what_serves_again_asks_again_where_more_would_be_released() -> None:
    page = ActPage(Act.DRAIN, "", "", "", "", lambda _by, _given: None, "", serves=True)
    grown = Preview(
        groups=(GroupEffect("tpu", "DRAINING", "AVAILABLE", 0, 3, 0, 3),), released=("s-1",), cancelled=("s-2",)
    )
    assert replace(page, preview=grown).hit_with({}) == {"s-1"}
    assert replace(page, preview=grown, serves=False).hit_with({}) == {"s-1", "s-2", "tpu=+3"}


@pytest.mark.parametrize("address", ["drain/", "pause/", "limits/"])
def test_a_page_is_shown_without_asking_the_planner(
    address: str, waiting: Group, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = sign_in("admin")
    form = limits_of(client, max_slices=3)
    monkeypatch.setattr("scaling.previews.cluster.base", lambda: pytest.fail("the planner was asked"))
    review = address == "limits/"
    shown = client.post(f"{GROUP}limits/", {**form, "step": "review"}) if review else client.get(f"{GROUP}{address}")
    text = shown.content.decode()
    assert "Asking the planner what the next cycle would do" in text and 'name="seen"' in text
    assert "Show what the next cycle would do" in text, "the way without javascript"


def test_a_planner_that_fails_keeps_nobody_from_stopping_things(
    waiting: Group, now: datetime, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client, platform = sign_in("admin"), waiting.platform
    marker = builders.make_marker(waiting, now)
    form = limits_of(client, max_slices=3)
    operations.set_platform_mode(Actor.user("bo"), platform.name, "observe")
    operations.set_platform_mode(Actor.user("bo"), platform.name, "act")
    switch = Action.objects.latest("pk")

    def fail() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("scaling.previews.cluster.base", fail)
    limits = client.post(f"{GROUP}limits/", {**form, "step": "save", "seen": ""})
    seen = client.get(f"{GROUP}pause/?preview=1")
    assert client.post(f"{GROUP}pause/", {"reason": "x", "seen": ""}).status_code == 302
    assert caplog.text.count("the planner gave no answer to an act") == 3 and "ZeroDivisionError" in caplog.text
    resume = client.post(f"{GROUP}resume/", {"reason": "kept", "seen": ""})
    for answer in (limits, seen, resume):
        assert answer.status_code == 503 and "Nothing was done." in words_of(answer.content.decode())
    assert 'value="kept"' in resume.content.decode() and client.get(f"{GROUP}drain/?preview=part").status_code == 503
    until = {"until_span": "24h", "until": "", "reason": "", "seen": ""}
    assert client.post(f"/stockouts/{marker.pk}/hold/", until).status_code == 302
    assert client.post(f"{GROUP}drain/", {"confirm": waiting.name, "reason": ""}).status_code == 302
    caplog.clear()
    assert client.post(f"/actions/{switch.pk}/undo/", {"reason": ""}).status_code == 302
    assert not caplog.text, "the planner is not asked"
    assert not Action.objects.filter(kind__in=("resume", "set_limits")).exists()


def test_what_is_loaded_into_a_page_is_the_preview_with_what_of_it_is_seen(
    waiting: Group, now: datetime, sign_in: SignIn
) -> None:
    client = sign_in("admin")
    builders.make_slice(waiting, now, "REQUESTING", name="unsent")
    page, part = client.get(f"{GROUP}drain/"), client.get(f"{GROUP}drain/?preview=part")
    assert page.context["seen"].split()[:2] == ["busy", "unsent"]
    assert part.templates[0].name == "acts/preview_part.html" and "It cancels 1 request" in words_of(
        part.content.decode()
    )
    both = [page.context["seen"], part.context["seen"]]
    assert client.post(f"{GROUP}drain/", {"confirm": waiting.name, "reason": "", "seen": both}).status_code == 302


def test_what_is_sent_before_the_planner_answered_is_shown_with_its_answer(waiting: Group, sign_in: SignIn) -> None:
    client = sign_in("admin")
    form = limits_of(client, max_slices=3)
    answer = client.post(f"{GROUP}limits/", {**form, "step": "save", "seen": ""})
    assert answer.status_code == 409 and not Action.objects.exists()
    assert "2 new slices in tpu-v5-8" in words_of(answer.content.decode())
    assert client.post(f"{GROUP}limits/", {**form, "step": "save", "seen": answer.context["seen"]}).status_code == 302


def test_an_act_that_no_cycle_plans_has_no_preview_to_load(group: Group, now: datetime, sign_in: SignIn) -> None:
    marker = builders.make_marker(group, now)
    client = sign_in("operator")
    assert client.get(f"/stockouts/{marker.pk}/acknowledge/?preview=part").status_code == 404
    assert "Asking the planner" not in client.get(f"/stockouts/{marker.pk}/acknowledge/").content.decode()


def test_a_pool_nobody_has_is_refused_before_it_is_reviewed(group: Group, sign_in: SignIn) -> None:
    client = sign_in("admin")
    answer = client.post(f"{GROUP}limits/", {**limits_of(client, quota_pool="nope"), "step": "review"})
    assert answer.status_code == 422
    assert "Expected the name of a quota pool" in words_of(answer.content.decode())


def test_orders_tell_what_the_next_cycle_does_with_them(group: Group, now: datetime, see: Get) -> None:
    builders.make_slice(group, now, "REQUESTING", name="unsent")
    builders.make_job(now, "train")
    drain = see(f"{GROUP}drain/?preview=1", "operator")
    assert "It cancels 1 request not sent yet unsent" in drain and "It holds up 1 job train" in drain
    pause = see(f"{GROUP}pause/?preview=1", "operator")
    assert "tpu-v5-8 available → paused" in pause
    operations.pause_group(Actor.user("bo"), group.name)
    assert "tpu-v5-8 paused → available" in see(f"{GROUP}resume/?preview=1", "operator")


def test_stops_and_a_drained_slice_tell_what_the_next_cycle_does_with_them(
    group: Group, now: datetime, sign_in: SignIn, see: Get
) -> None:
    builders.make_job(now, "train")
    Group.objects.update(min_slices=1)
    row = builders.make_slice(group, now, idle=3600, name="here")
    builders.make_job(now, "more", tasks=2)
    slice_ = see(f"/slices/{row.name}/drain/?preview=1", "operator")
    assert "The next cycle, planned with it" in slice_ and "asks for 3 new slices instead of 2" in slice_
    halt = see("/settings/halt/?preview=1", "operator")
    assert "would buy and release nothing: buying and releasing of slices is halted by operator" in halt
    assert "asks for no new slice instead of 2" in halt
    mode = f"/settings/platforms/{group.platform_id}"
    observed = see(f"{mode}/observe/?preview=1", "admin")
    assert "asks for no new slice instead of 2; its platform is only observed, nothing is sent" in observed
    operations.set_platform_mode(Actor.user("bo"), group.platform.name, "observe")
    assert "tpu-v5-8 asks for 2 new slices" in see(f"{mode}/act/?preview=1", "admin")
    client = sign_in("admin")
    assert client.post(f"{mode}/act/", {"reason": "", "seen": ""}).status_code == 409, "it buys, which was not seen"


@pytest.mark.parametrize("stop", ["halt/", "platforms/{}/observe/"])
def test_a_stop_waits_for_no_answer_of_the_planner(
    stop: str, waiting: Group, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scaling.previews.cluster.base", lambda: pytest.fail("the planner was asked"))
    client, path = sign_in("admin"), f"/settings/{stop.format(waiting.platform_id)}"
    shown = client.get(path).content.decode()
    assert "Asking the planner" in shown and "data-after-preview" not in shown
    assert client.post(path, {"reason": "fire", "seen": ""}).status_code == 302


def test_a_marker_cleared_says_what_it_unblocks(group: Group, now: datetime, see: Get) -> None:
    marker = builders.make_marker(group, now)
    builders.make_job(now, "train")
    text = see(f"/stockouts/{marker.pk}/clear/?preview=1", "operator")
    assert "It unblocks 1 job train" in text and "asks for 1 new slice; stockout → available" in text
    assert "It makes no difference to the next cycle" in see(f"/stockouts/{marker.pk}/hold/?preview=1", "operator")


def test_what_makes_no_difference_says_so(group: Group, see: Get) -> None:
    assert "It makes no difference to the next cycle: no slice more or less" in see(
        f"{GROUP}undrain/?preview=1", "operator"
    )


def test_a_drain_with_a_deadline_asks_again_when_a_new_job_would_be_ended(
    group: Group, now: datetime, sign_in: SignIn
) -> None:
    row = builders.make_slice(group, now, idle=None, name="busy")
    builders.make_task(builders.make_job(now, "first"), row.workers.get(), now)
    client = sign_in("operator")
    seen = client.get(f"{GROUP}drain/").context["seen"]
    builders.make_task(builders.make_job(now, "second"), row.workers.get(), now)
    named = {"confirm": group.name, "seen": seen, "reason": ""}
    ended = client.post(f"{GROUP}drain/", {**named, "deadline_span": "1h"})
    assert ended.status_code == 409
    assert "It would now hit more than you were shown: demo:second." in words_of(ended.content.decode())
    assert client.post(f"{GROUP}drain/", named).status_code == 302, "without one its tasks may finish"


def test_an_end_is_a_span_or_a_date_and_never_both(group: Group, sign_in: SignIn) -> None:
    both = {"until_span": "1h", "until": "2030-01-01T00:00", "reason": ""}
    answer = sign_in("operator").post(f"{GROUP}pause/", both)
    assert answer.status_code == 422 and not Action.objects.exists()
    assert "expected one of the two, got both" in words_of(answer.content.decode())


@pytest.fixture
def chat(db: None, now: datetime) -> Deployment:
    row = make_deployment("chat", now)
    tick(row, now, Scene(healthy=4, p95=450, rps=38, window=((310, 4),)))
    return row


def test_the_review_of_a_deployment_names_the_replicas(chat: Deployment, now: datetime, sign_in: SignIn) -> None:
    client = sign_in("admin")
    fields = {"version": "1", "base": "{}", "max_replicas": "2"}
    answer = client.post(CHAT, {**fields, "step": "review"})
    text = words_of(answer.content.decode())
    assert "Its next tick, decided with them It stops 1 replica" in text and "healthy-1" in text
    seen = answer.context["seen"]
    tick(chat, now, Scene(healthy=5, p95=450, rps=38))
    scaler = chat.scaler
    scaler.refresh_from_db()
    scaler.replicas = [[one[0].replace("healthy", "other"), *one[1:]] for one in scaler.replicas]
    scaler.save()
    again = client.post(CHAT, {**fields, "step": "save", "seen": seen})
    assert again.status_code == 409 and "than you were shown: other-1." in words_of(again.content.decode())
    assert client.post(CHAT, {**fields, "step": "save", "seen": again.context["seen"]}).status_code == 302
