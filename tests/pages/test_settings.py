"""Settings: what Iris is wired to and whether it answers; halting, resuming, platform modes."""

from collections.abc import Callable
from datetime import datetime

import pytest
from django.test import Client

from scaling import operations
from scaling.history import Actor
from scaling.models import Action, Group, Heartbeat, Installation, Lease, Platform, QuotaPool
from scaling.testing import builders
from tests.pages.conftest import Get, words_of

SignIn = Callable[[str], Client]


def send(client: Client, path: str, status: int = 302, **fields: object) -> str:
    answer = client.post(path, fields)
    assert answer.status_code == status, words_of(answer.content.decode())
    return words_of(answer.content.decode())


def test_platforms_say_whether_they_answer(group: Group, now: datetime, see: Get) -> None:
    Platform.objects.update(listed_at=builders.before(now, 4))
    Platform.objects.create(name="gcp", kind="gcp", mode="observe")
    Platform.objects.create(name="cw", kind="coreweave", mode="act", aborts_in_a_row=2, last_error="503 from the API")
    text = see("/settings/")
    assert (
        "simulated simulated · its slices come from the simulated cloud" in text and "reachable listed 4 s ago" in text
    )
    assert "unreachable 503 from the API 2 aborted cycles in a row" in text
    assert "gcp gcp · names begin iris not asked yet observe 0 0" in text


def test_the_database_the_queue_and_the_configuration_are_told(group: Group, see: Get) -> None:
    text = see("/settings/")
    assert "Database reachable SQLite" in text or "Database reachable PostgreSQL" in text
    assert "Database reachable It answers in " in text and text.count(" ms.") == 1, "in one place"
    assert "the database empty" in text
    assert "A cycle every 10 s IRIS_CYCLE_SECONDS" in text


def test_loops_leases_and_processes_show_signs_of_life(group: Group, now: datetime, see: Get) -> None:
    builders.make_loop("autoscaler", now, skipped=3, last_lateness_ms=41.7)
    builders.make_loop("scheduler", now, 1, last_error="OperationalError: disk full")
    Lease.objects.create(name="autoscaler", holder="worker-1", token=9, expires_at=builders.after(now, 5))
    Lease.objects.create(name="old", holder="worker-0", token=2, expires_at=builders.before(now, 5))
    Heartbeat.objects.create(name="queue", at=builders.before(now, 1))
    Heartbeat.objects.create(name="web-1", at=builders.before(now, 100), info={"pid": 7})
    text = see("/settings/")
    assert "autoscaler ok 10 s" in text and "42 ms 100 3" in text and "disk full" in text
    assert "Lease autoscaler held by worker-1 last token 9" in text and "Lease old free between rounds" in text
    assert (
        "ok queue last sign of life 1 s ago" in text and "silent web-1 last sign of life 1 min 40 s ago pid 7" in text
    )


def test_an_operator_halts_everything_and_lets_it_go_on(group: Group, now: datetime, sign_in: SignIn, see: Get) -> None:
    builders.make_slice(group, now, "REQUESTING")
    client = sign_in("operator")
    assert "1 slice in flight, 1 not sent yet" in words_of(client.get("/settings/halt/").content.decode())
    send(client, "/settings/halt/", reason="fire drill", version=1)
    assert Installation.objects.get().halted_by == "operator"
    assert "halted for 0 s by operator: fire drill" in see("/settings/")
    assert "are halted already" in send(client, "/settings/halt/", 422)
    send(client, "/settings/unhalt/", reason="over")
    assert Installation.objects.get().halted_since is None
    assert list(Action.objects.order_by("id").values_list("kind", flat=True)) == ["halt", "unhalt"]


def test_halting_before_anything_is_set_up_says_so(db: None, sign_in: SignIn, see: Get) -> None:
    assert "not set up yet" in see("/settings/")
    assert sign_in("operator").post("/settings/halt/", {}).status_code == 404


def test_an_admin_switches_a_platform(group: Group, sign_in: SignIn) -> None:
    platform = Platform.objects.create(name="gcp", kind="gcp", mode="observe", simulated=False)
    path = f"/settings/platforms/{platform.pk}"
    client = sign_in("admin")
    text = words_of(client.get(f"{path}/act/").content.decode())
    assert "It concerns 0 groups." in text and "bought and released, for real" in text
    send(client, f"{path}/act/", reason="go live", version=1)
    platform.refresh_from_db()
    assert platform.mode == "act"
    assert "is in mode act already" in send(client, f"{path}/act/", 422)
    assert "admin put it in mode act just now: go live" in send(client, f"{path}/observe/", 409, version=1)
    action = Action.objects.get()
    assert (action.kind, action.before, action.after) == ("set_platform_mode", {"mode": "observe"}, {"mode": "act"})
    assert client.get(f"{path}/dance/").status_code == 404
    assert client.get("/settings/platforms/999/act/").status_code == 404


def test_a_learned_limit_is_forgotten(group: Group, now: datetime, sign_in: SignIn) -> None:
    pool = QuotaPool.objects.create(name="p", limit=64, learned_limit=8, learned_at=now)
    client = sign_in("admin")
    assert "taught a limit of 8; the pool's own, 64" in words_of(
        client.get(f"/pools/{pool.pk}/forget/").content.decode()
    )
    pool.groups.add(group)
    of_group, of_pool = f"/groups/{group.name}/", f"/admin/scaling/quotapool/{pool.pk}/change/"
    for pressed_on, leads in ((of_group, f"/pools/{pool.pk}/forget/?group={group.name}"),
                              (of_pool, f"/pools/{pool.pk}/forget/?admin")):  # fmt: skip
        QuotaPool.objects.update(learned_limit=8, learned_at=now)
        assert f'href="{leads}"' in client.get(pressed_on).content.decode()
        assert client.post(leads)["Location"] == pressed_on
    pool.refresh_from_db()
    assert pool.learned_limit is None
    assert client.post("/pools/999/forget/").status_code == 404


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_modes_are_the_admins_alone(role: str, group: Group, sign_in: SignIn) -> None:
    assert "Switch to" not in words_of(sign_in(role).get("/settings/").content.decode())


def test_halting_twice_at_once_tells_the_second(group: Group, sign_in: SignIn) -> None:
    operations.halt(Actor.user("bo"), "mine")
    assert "bo halted buying and releasing of slices just now: mine" in send(
        sign_in("operator"), "/settings/halt/", 409, version=1
    )


def test_single_keys_can_be_turned_off_here(group: Group, see: Get) -> None:
    text = see("/settings/")
    assert "Keyboard Single keys act" in text and "Kept in this browser" in text and "Show the keys" in text
