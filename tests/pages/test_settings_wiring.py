"""The settings page as a whole: each thing in one line, sources by instance, channels, notices and their acts."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from scaling import operations
from scaling.history import Actor
from scaling.models import Action, Group, Heartbeat, Notice, NoticeChannel, NoticeDelivery, NoticeTelling, Platform
from scaling.notices.facts import WATCH
from scaling.operations import notices as acts
from scaling.testing import builders, sample_deployments
from tests.notices.receivers import free_port, web_receiver
from tests.pages.conftest import Get, words_of

SignIn = Callable[[str], Client]
pytestmark = pytest.mark.django_db


def test_a_fresh_installation_says_what_has_not_happened_yet(see: Get) -> None:
    text = see("/settings/")
    assert "Loops not asked yet None has been started. Run manage.py up, or a ticker." in text
    assert "Worker not asked yet No task has run yet." in text
    assert "Notices off There is no channel: nobody away from these pages is told." in text
    assert "No Gateway is configured, so no deployments are scaled" in text
    assert "Nothing to tell: no stock-out" in text


def test_all_is_well_in_one_look(group: Group, now: datetime, see: Get, gateway: None, settings: Any) -> None:
    settings.IRIS_SITE_URL = "https://iris.example"
    builders.make_loop("autoscaler", now)
    builders.make_loop(WATCH, now, 5)
    Heartbeat.objects.create(name="queue", at=now)
    Platform.objects.update(listed_at=now, kind="gcp", simulated=False)
    for name in ("gateway", "prometheus"):
        sample_deployments.make_source(name, now)
    NoticeChannel.objects.create(name="on-call", last_ok_at=now)
    text = see("/settings/")
    assert "Is it wired up? nothing wants attention" in text
    lines = (
        "Loops ok All 2 keep their periods.",
        "Worker ok",
        "Platform simulated reachable It can be listed.",
        "Gateway reachable It answers.",
        "Prometheus reachable It answers.",
        "Notices ok 1 channel in use.",
        "Links of notices ok They lead to https://iris.example.",
        "Notices link to https://iris.example IRIS_SITE_URL",
    )
    assert [line for line in lines if line not in text] == []


def test_what_is_wrong_says_what_to_do(group: Group, now: datetime, see: Get, gateway: None) -> None:
    builders.make_loop("scheduler", now - timedelta(hours=1), 1)
    Heartbeat.objects.create(name="queue", at=builders.before(now, 100))
    Platform.objects.update(unreachable_since=builders.before(now, 65), last_error="503 from the API")
    sample_deployments.make_source("gateway", now, "the connection was refused")
    sample_deployments.make_source("prometheus", now, asked_at=builders.before(now, 600))
    NoticeChannel.objects.create(name="on-call", last_error="it answered 500", last_failed_at=now)
    text = see("/settings/")
    assert "to look at: 7 of 8" in text
    assert "Links of notices not set Notices have no links" in text and "Set IRIS_SITE_URL to this site's addr" in text
    assert "Notices link to not set: they have no links IRIS_SITE_URL" in text
    assert "Loops silent scheduler: not as it should be." in text and "See whether ticker and worker run" in text
    assert "Worker silent No task has run lately. 1 min 40 s ago Start a worker" in text
    assert "unreachable 503 from the API for 1 min 5 s Check credentials and network" in text
    assert "Gateway unreachable the connection was refused for 4 min" in text
    assert "Prometheus silent It has not been asked lately. 10 min ago Nobody asks it any more" in text
    assert "Notices failed on-call: it answered 500." in text


def test_two_instances_that_see_a_source_differently_are_both_shown_and_trouble_comes_first(
    now: datetime, see: Get, gateway: None
) -> None:
    sample_deployments.make_source("gateway", now, instance="east")
    sample_deployments.make_source("gateway", now, "timed out", instance="west")
    text = see("/settings/")
    table = text[text.index("Gateway and Prometheus") :]
    assert "unreachable for 4 min timed out" in table and table.index("west") < table.index("east")
    assert "Prometheus http" in table and "not asked yet nobody yet" in table


def test_an_instance_that_is_gone_is_no_longer_told_of(now: datetime, see: Get, gateway: None) -> None:
    sample_deployments.make_source("gateway", now, instance="east")
    sample_deployments.make_source("gateway", now, "timed out", instance="gone", asked_at=builders.before(now, 300))
    assert "timed out" not in see("/settings/")


def test_channels_are_masked_and_a_viewer_is_offered_no_act(now: datetime, see: Get) -> None:
    NoticeChannel.objects.create(
        name="on-call", url="https://h.example/topsecret", masked="https://h.example/…", kinds=["stockout"],
        tell_over=False,
    )  # fmt: skip
    notice = Notice.objects.create(kind="stockout", object="v5", title="Stock-out: v5", since=now, opened_at=now)
    text = see("/settings/")
    assert "on-call https://h.example/… not used yet New stock-out not when it is over never 0" in text
    assert "Stock-out: v5 0 s told when it lasts" in text
    assert "Send a test" not in text and "Acknowledge" not in text
    assert "Send a test" in see("/settings/", role="operator")
    assert f"Acknowledge {notice.title}" in see("/settings/", role="operator")
    assert "topsecret" not in see("/settings/", role="admin")


def test_a_notice_says_who_was_told_of_it(now: datetime, see: Get) -> None:
    notice = Notice.objects.create(
        kind="stockout", object="v5", title="Stock-out: v5", since=now, opened_at=now, told_at=now
    )
    assert "Stock-out: v5 0 s not told: no channel" in see("/settings/")
    NoticeChannel.objects.create(name="clouds", kinds=["platform_unreachable"])
    assert "Stock-out: v5 0 s not told: no channel" in see("/settings/")
    channel = NoticeChannel.objects.create(name="on-call")
    assert "Stock-out: v5 0 s on its way" in see("/settings/")
    NoticeTelling.objects.create(notice=notice, channel=channel)
    assert "Stock-out: v5 0 s not told: given up" in see("/settings/")
    NoticeTelling.objects.update(heard=True)
    assert re.search(r"Stock-out: v5 0 s told (?!by)", see("/settings/"))
    pager = NoticeChannel.objects.create(name="pager")
    assert "Stock-out: v5 0 s told by 1 of 2 channels; not by pager" in see("/settings/")
    NoticeDelivery.objects.create(
        channel=pager, message="m", kind="new", title="t", body="b", next_attempt_at=now, created_at=now
    )
    assert "Stock-out: v5 0 s told by 1 of 2 channels; on its way to pager" in see("/settings/")


def test_what_was_given_up_is_shown_for_a_day(now: datetime, see: Get) -> None:
    channel = NoticeChannel.objects.create(name="on-call")
    NoticeDelivery.objects.create(
        channel=channel, message="m", kind="new", title="Stock-out: v5", body="b", state="given_up", attempts=10,
        last_error="it answered 500", next_attempt_at=now, created_at=now, finished_at=builders.before(now, 60),
    )  # fmt: skip
    assert "Stock-out: v5 to on-call after 10 attempts: it answered 500 1 min ago" in see("/settings/")
    NoticeDelivery.objects.update(finished_at=now - timedelta(days=2))
    assert "Given up" not in see("/settings/")


def test_an_operator_tests_a_channel_and_sees_how_it_went(sign_in: SignIn, now: datetime) -> None:
    client = sign_in("operator")
    with web_receiver() as web:
        good = NoticeChannel.objects.create(name="good", url=f"json://{web.host}/x")
        bad = NoticeChannel.objects.create(name="bad", url=f"json://127.0.0.1:{free_port()}/topsecret")
        told = [
            words_of(client.post(f"/settings/notices/channels/{channel.pk}/test/", follow=True).content.decode())
            for channel in (good, bad, bad)
        ]
        of_its_page = {"back": "channel"}
        back = client.post(f"/settings/notices/channels/{bad.pk}/test/", of_its_page)["Location"]
    assert back == f"/admin/scaling/noticechannel/{bad.pk}/change/"
    assert "good took the test message. IRIS_SITE_URL is not set: notices have no links" in told[0]
    assert web.titles() == ["Test: this is only a test"]
    assert "bad did not take the test message: The connection was refused." in told[1]
    assert "Wait 10 s: bad was tested a moment ago." in told[2] and "topsecret" not in told[1]
    assert [row.kind for row in Action.objects.all()] == ["test_channel", "test_channel"]
    assert client.get(f"/settings/notices/channels/{good.pk}/test/").status_code == 405
    assert client.post("/settings/notices/channels/987/test/").status_code == 404


def test_a_stock_out_is_acknowledged_once_for_its_notice_and_its_page(
    group: Group, sign_in: SignIn, see: Get, now: datetime
) -> None:
    marker = builders.make_marker(group, now)
    notice = Notice.objects.create(
        kind="stockout",
        object=group.name,
        title=f"Stock-out: {group.name}",
        since=now,
        opened_at=now,
        told_at=now,
        page=f"/stockouts/?group={group.name}",
    )
    client, path = sign_in("operator"), f"/settings/notices/{notice.pk}/acknowledge/"
    page = client.get("/settings/").content.decode()
    assert f'href="/stockouts/?group={group.name}">{notice.title}' in page
    assert f'href="/stockouts/{marker.pk}/acknowledge/">Acknowledge' in page and path not in page
    assert client.get(path).headers["Location"] == f"/stockouts/{marker.pk}/acknowledge/"
    assert "Its notice falls silent as long" in see(f"/stockouts/{marker.pk}/acknowledge/", "operator")
    operations.acknowledge_notice(Actor.user("bo"), notice.pk, "looking")
    assert "acknowledged by bo: looking; its stock-out has no owner" in see("/settings/")
    assert f"Acknowledge {notice.title}" in see("/settings/", "operator")
    client.post(f"/stockouts/{marker.pk}/acknowledge/", {"note": "ticket 4711"})
    assert "silent: its stock-out is acknowledged by operator: ticket 4711" in see("/settings/")
    assert f"Change note {notice.title}" in see("/settings/", "operator")
    operations.clear_marker(Actor.user("bo"), marker.pk)
    assert client.get(path).status_code == 200, "the notice alone is left"


def test_a_notice_is_acknowledged_with_a_note(sign_in: SignIn, see: Get, now: datetime) -> None:
    notice = Notice.objects.create(
        kind="loop_stalled", object="x", title="Loop stalled: x", since=now, opened_at=now, told_at=now
    )
    path = f"/settings/notices/{notice.pk}/acknowledge/"
    client = sign_in("operator")
    assert client.post(path, {"note": ""}).status_code == 422
    assert client.post(path, {"note": "restarting it", "version": 1}).status_code == 302
    assert "acknowledged by operator: restarting it" in see("/settings/")
    assert client.post(path, {"note": "too late", "version": 1}).status_code == 409


def test_an_admin_keeps_channels_whose_address_is_never_shown_again(
    sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acts, "service_of", lambda url: "" if "nonsense" in url else "JSON")
    client, base = sign_in("admin"), "/admin/scaling/noticechannel"

    def send(path: str, **fields: Any) -> str:
        return client.post(f"{base}/{path}", fields, follow=True).content.decode()

    refused = send("add/", name="on-call", url="nonsense://topsecret", enabled="on")
    assert "no service of the notification library" in refused and "topsecret" not in refused
    assert "Saved: on-call" in send("add/", name="on-call", url="https://h.example/topsecret", kinds=["stockout"])
    channel = NoticeChannel.objects.get()
    assert (channel.kinds, channel.enabled, channel.tell_over) == (["stockout"], False, False)
    form = client.get(f"{base}/{channel.pk}/change/").content.decode()
    assert "https://h.example/…" in form and "topsecret" not in form
    assert "IRIS_SITE_URL is not set: notices have no links" in form
    send(f"{channel.pk}/change/", name="night", url="", enabled="on", seen_version=1)
    channel.refresh_from_db()
    assert (channel.name, channel.url, channel.enabled, channel.kinds) == (
        "night", "https://h.example/topsecret", True, [],
    )  # fmt: skip
    assert "admin changed it" in send(f"{channel.pk}/change/", name="late", url="", seen_version=1)
    assert "topsecret" not in send("", action="remove", _selected_action=channel.pk)
    assert [row.kind for row in Action.objects.order_by("id")] == ["create_channel", "set_channel", "remove_channel"]
    assert "topsecret" not in str(list(Action.objects.values_list("before", "after")))
