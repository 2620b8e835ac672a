"""Wrong passwords: slowed down for one name from one address, said with the time to wait, and undone by an admin."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from iris_web.login.configured import Proxy
from scaling import lockouts
from scaling.models import Action
from scaling.operations.acts import when
from tests.conftest import PASSWORD
from tests.login.conftest import PROXY
from tests.pages.conftest import words_of

pytestmark = pytest.mark.django_db


def try_in(client: Client, password: str = "wrong", name: str = "viewer", **more: Any) -> Any:
    return client.post("/login/", {"username": name, "password": password}, **more)


def lock(client: Client, name: str = "viewer", **more: Any) -> Any:
    answers = [try_in(client, name=name, **more) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200] * 4 + [429]
    return answers[-1]


def test_after_five_wrong_passwords_even_the_right_one_has_to_wait(people: dict[str, User]) -> None:
    client = Client()
    answer = lock(client)
    text = words_of(answer.content.decode())
    assert "Too many wrong passwords for this name from your address. Try again in 15 minutes" in text
    assert 0 < int(answer["Retry-After"]) <= 900
    right = try_in(client, PASSWORD)
    assert right.status_code == 429 and client.get("/").status_code == 302


def test_nobody_else_has_to_wait(people: dict[str, User]) -> None:
    lock(Client())
    assert try_in(Client(), PASSWORD, REMOTE_ADDR="203.0.113.9").status_code == 302
    assert try_in(Client(), PASSWORD, "operator").status_code == 302


def test_a_name_that_nobody_has_is_treated_the_same(people: dict[str, User]) -> None:
    assert lock(Client(), "nobody").status_code == 429


def test_the_wait_ends(people: dict[str, User]) -> None:
    lock(Client())
    AccessAttempt.objects.update(attempt_time=datetime.now(UTC) - timedelta(minutes=16))
    assert try_in(Client(), PASSWORD).status_code == 302


def test_the_wait_ends_when_too_few_are_left_of_those_given_by_several_browsers(people: dict[str, User]) -> None:
    """The throttle counts what is not older than its time; it keeps a row for each browser."""
    for agent in "aabbb":
        answer = try_in(Client(), headers={"User-Agent": agent})
    now = datetime.now(UTC)
    AccessAttempt.objects.filter(user_agent="a").update(attempt_time=now - timedelta(minutes=10))
    [wrong] = lockouts.wrong_passwords(now, ["viewer"])["viewer"]
    assert answer.status_code == 429 and wrong.count == 5 and wrong.until == now + timedelta(minutes=5)
    assert 200 < int(try_in(Client(), PASSWORD)["Retry-After"]) <= 300
    assert lockouts.locked_until("viewer", "127.0.0.1", now + timedelta(minutes=5)) is None
    AccessAttempt.objects.filter(user_agent="a").update(attempt_time=now - timedelta(minutes=15, seconds=1))
    assert try_in(Client(), PASSWORD).status_code == 302


def test_the_right_password_forgets_the_wrong_ones(people: dict[str, User]) -> None:
    for _ in range(2):
        for _ in range(4):
            try_in(Client())
        assert try_in(Client(), PASSWORD).status_code == 302
    assert not AccessAttempt.objects.exists()


def test_waiting_is_not_made_longer_by_trying(people: dict[str, User]) -> None:
    lock(Client())
    at = AccessAttempt.objects.get().attempt_time
    try_in(Client())
    assert AccessAttempt.objects.get().attempt_time == at


def test_an_address_is_the_proxys_word_only_where_that_is_trusted(people: dict[str, User], proxy: Proxy) -> None:
    lock(Client(), REMOTE_ADDR=PROXY, headers={"X-Forwarded-For": "1.1.1.1"})
    other = try_in(Client(), PASSWORD, REMOTE_ADDR=PROXY, headers={"X-Forwarded-For": "1.1.1.2"})
    assert other.status_code == 302
    lock(Client(), "operator", REMOTE_ADDR="203.0.113.9", headers={"X-Forwarded-For": "1.1.1.1"})
    changed = try_in(Client(), PASSWORD, "operator", REMOTE_ADDR="203.0.113.9", headers={"X-Forwarded-For": "1.1.1.3"})
    assert changed.status_code == 429


@pytest.mark.parametrize("forwarded", ["1.1.1.1:{}", "unknown, hop-{}", "[2001:db8::1]:{}", "2001:db8::{}", "x" * 200])
def test_a_forwarded_address_of_any_form_is_slowed_down(forwarded: str, people: dict[str, User], proxy: Proxy) -> None:
    statuses = [
        try_in(Client(), REMOTE_ADDR=PROXY, headers={"X-Forwarded-For": forwarded.format(1000 + number)}).status_code
        for number in range(6)
    ]
    assert statuses == [200] * 4 + [429] * 2


def test_clients_without_an_address_are_slowed_down_together(people: dict[str, User]) -> None:
    lock(Client(), REMOTE_ADDR="")
    assert try_in(Client(), PASSWORD, REMOTE_ADDR="").status_code == 429


def test_the_addresses_of_one_ipv6_household_count_as_one(people: dict[str, User]) -> None:
    statuses = [try_in(Client(), REMOTE_ADDR=f"2001:db8:1:2:{number}::1").status_code for number in range(5)]
    assert statuses == [200] * 4 + [429]
    answer = try_in(Client(), PASSWORD, REMOTE_ADDR="2001:db8:1:2:ffff::")
    assert answer.status_code == 429 and 0 < int(answer["Retry-After"]) <= 900
    assert try_in(Client(), PASSWORD, REMOTE_ADDR="2001:db8:1:3::1").status_code == 302


@pytest.mark.parametrize("path", ["/login/", "/confirm/", "/password/"])
def test_of_a_form_with_a_wrong_password_nothing_is_kept(path: str, sign_in: Callable[[str], Client]) -> None:
    client = Client() if path == "/login/" else sign_in("viewer")
    form = {"username": "viewer", "password": "typed-old", "new": "typed-new", "again": "typed-again"}
    for _ in range(2):
        client.post(f"{path}?password=typed-in-address", form)
    (kept,) = AccessAttempt.objects.values()
    assert kept["failures_since_start"] == 2 and "typed" not in str(kept)


def test_forms_that_were_kept_once_are_forgotten_by_the_migration(people: dict[str, User]) -> None:
    try_in(Client())
    AccessAttempt.objects.update(post_data="new=typed-new", get_data="next=/")
    import_module("iris_web.migrations.0002_forget_forms_of_failed_logins").forget(apps, connection.schema_editor())
    assert AccessAttempt.objects.values("post_data", "get_data", "failures_since_start").get() == {
        "post_data": "",
        "get_data": "",
        "failures_since_start": 1,
    }


def test_failed_and_throttled_logins_are_logged_without_the_password(
    people: dict[str, User], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "iris_web.login.throttle")
    lock(Client())
    try_in(Client())
    own = [record for record in caplog.records if record.name == "iris_web.login.throttle"]
    told = [(record.message, record.person, record.address) for record in own]  # type: ignore[attr-defined]
    assert ("login failed", "viewer", "127.0.0.1") in told and ("login throttled", "viewer", "127.0.0.1") in told
    assert "wrong" not in caplog.text.replace("wrong passwords", "")


def test_an_admin_lets_someone_try_again(people: dict[str, User], sign_in: Callable[[str], Client]) -> None:
    lock(Client())
    try_in(Client(), name="operator")
    admin = sign_in("admin")
    until = AccessAttempt.objects.get(username="viewer").attempt_time + timedelta(minutes=15)
    told = f"viewer viewer locked until {when(until)} from 127.0.0.1"
    text = words_of(admin.get("/admin/auth/user/").content.decode())
    assert told in text and "operator operator 1 wrong password lately" in text and "admin admin admin@" not in text
    for filtered, count in (("locked", 1), ("wrong", 2)):
        assert admin.get(f"/admin/auth/user/?password={filtered}").context["cl"].result_count == count
    form = words_of(admin.get(f"/admin/auth/user/{people['viewer'].pk}/change/").content.decode())
    assert f"Sign-in: locked until {when(until)}" in form
    chosen = {"action": "unlock", "_selected_action": [people["viewer"].pk]}
    admin.post("/admin/auth/user/", chosen)
    assert try_in(Client(), PASSWORD).status_code == 302
    action = Action.objects.get()
    assert (action.kind, action.target, action.actor) == ("unlock_user", "user viewer", "admin")
    answer = admin.post("/admin/auth/user/", chosen, follow=True)
    assert "no wrong password" in words_of(answer.content.decode()) and Action.objects.count() == 1
