"""How long a login lasts, when it is asked for again, and one's own password."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from iris_web.live.sessions import access_of
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Action, Group
from scaling.operations import StaleVersion
from scaling.people import save_person
from scaling.testing import builders
from tests.conftest import PASSWORD
from tests.pages.conftest import words_of

pytestmark = pytest.mark.django_db

SignIn = Callable[[str], Client]
HOUR = 3600
NEW = "another horse battery"
ADD = "/admin/auth/user/add/"


@pytest.fixture(autouse=True)
def cluster(frozen_clock: FrozenClock) -> Group:
    builders.make_installation()
    return builders.make_group("g")


def test_a_login_that_is_left_alone_ends(sign_in: SignIn, frozen_clock: FrozenClock) -> None:
    client = sign_in("viewer")
    key = client.session.session_key or ""
    for _ in range(3):
        frozen_clock.advance(11 * HOUR)
        assert client.get("/password/").status_code == 200
    assert access_of(key) is not None
    frozen_clock.advance(12 * HOUR)
    assert access_of(key) is None, "the socket ends with it"
    answer = client.get("/password/", follow=True)
    assert "your login had grown old" in words_of(answer.content.decode())
    assert not Session.objects.filter(session_key=key).exists()


def test_a_login_ends_in_the_end_however_busy_it_is(sign_in: SignIn, frozen_clock: FrozenClock) -> None:
    client = sign_in("viewer")
    for _ in range(33):
        frozen_clock.advance(5 * HOUR)
        assert client.get("/password/").status_code == 200
    frozen_clock.advance(5 * HOUR)
    assert client.get("/password/").status_code == 302


def test_a_limit_of_nothing_is_none(sign_in: SignIn, frozen_clock: FrozenClock, settings: object) -> None:
    settings.IRIS_SESSION_IDLE_HOURS = settings.IRIS_SESSION_HOURS = 0  # type: ignore[attr-defined]
    client = sign_in("viewer")
    frozen_clock.advance(1000 * HOUR)
    assert client.get("/password/").status_code == 200


def test_reading_writes_the_session_at_most_once_a_minute(
    sign_in: SignIn, frozen_clock: FrozenClock, django_assert_num_queries: Callable[..., object]
) -> None:
    client = sign_in("viewer")
    for seconds, queries in ((30, 5), (31, 8), (30, 5)):
        frozen_clock.advance(seconds)
        with django_assert_num_queries(queries):  # type: ignore[attr-defined]
            client.get("/password/")


def test_a_login_gets_a_session_of_its_own(people: dict[str, User]) -> None:
    client = Client()
    client.session["planted"] = True
    before = client.session.session_key
    client.post("/login/", {"username": "viewer", "password": PASSWORD})
    assert client.session.session_key != before


def test_people_and_tokens_are_changed_only_by_who_just_showed_who_they_are(
    sign_in: SignIn, people: dict[str, User], frozen_clock: FrozenClock
) -> None:
    client = sign_in("admin")
    assert client.get(ADD).status_code == 200
    frozen_clock.advance(601)
    forms = [ADD, "/admin/scaling/apitoken/add/", f"/admin/auth/user/{people['viewer'].pk}/change/"]
    for path in forms:
        assert client.get(path)["Location"].startswith("/confirm/?next=%2Fadmin")
        sent = client.post(path, {"name": "t", "role": "viewer", "username": "bo", "password": NEW, "is_active": "on"})
        assert sent["Location"].startswith("/confirm/")
    chosen = {"action": "unlock", "_selected_action": [people["viewer"].pk]}
    assert client.post("/admin/auth/user/", chosen)["Location"].startswith("/confirm/")
    assert not Action.objects.exists()
    assert client.get("/admin/auth/user/").status_code == client.get("/admin/scaling/group/").status_code == 200


def test_a_form_is_not_opened_with_too_little_time_left_to_fill_it_in(
    sign_in: SignIn, frozen_clock: FrozenClock
) -> None:
    client = sign_in("admin")
    frozen_clock.advance(479)
    assert client.get(ADD).status_code == 200
    frozen_clock.advance(2)
    assert client.get(ADD)["Location"].startswith("/confirm/")
    assert client.post(ADD, {"username": "bo"}).status_code == 200, "what was opened in time is taken to the end"
    frozen_clock.advance(120)
    asked = client.post(ADD, {"username": "bo"}, follow=True).content.decode()
    assert "Nothing was saved yet. Show that it is you; then the form comes back as you typed it." in asked


def test_a_form_that_was_open_too_long_comes_back_as_it_was_typed_but_for_its_password(
    sign_in: SignIn, people: dict[str, User], frozen_clock: FrozenClock
) -> None:
    token, change = "/admin/scaling/apitoken/add/", f"/admin/auth/user/{people['viewer'].pk}/change/"
    person = {"username": "bo", "email": "bo@example.com", "role": "operator", "password": NEW}
    forms = {
        token: {"name": "ci", "role": "scheduler", "scope": "slurm", "expires_at": "2026-02-01T08:00"},
        change: person,
        ADD: person,
    }
    client = sign_in("admin")
    for path, typed in forms.items():
        frozen_clock.advance(601)
        at = client.post(path, typed)["Location"]
        assert NEW not in str(dict(client.session.items()))
        client.post(at, {"password": PASSWORD, "next": path})
        page = client.get(path)
        form = page.context["form"] if path == token else page.context["adminform"].form
        shown = {name: form[name].value() or "" for name in form.fields if name not in ("password", "again", "shown")}
        assert shown == ({"is_active": ""} if path != token else {}) | {k: typed[k] for k in typed if k != "password"}
        assert NEW not in page.content.decode()
        words = words_of(page.content.decode())
        assert "This is what you typed before. It is not saved yet." in words
        assert ("The password was not kept: type it again." in words) == (path != token)
        assert "what you typed before" not in client.get(path).content.decode(), "given back once"
    assert not Action.objects.exists()


def test_a_form_that_comes_back_undoes_nothing_that_another_admin_did_meanwhile(
    sign_in: SignIn, people: dict[str, User], frozen_clock: FrozenClock
) -> None:
    client, viewer = sign_in("admin"), people["viewer"]
    change = f"/admin/auth/user/{viewer.pk}/change/"

    def shown(page: Any) -> dict[str, object]:
        form = page.context["adminform"].form
        return {name: form[name].value() or "" for name in form.fields if name not in ("password", "again")}

    opened = {**shown(client.get(change)), "is_active": "on"}
    viewer.is_active = False
    save_person(Actor.user("cyd"), viewer, "")
    told = "has changed since this form was opened: cyd changed role from viewer to none, is active from true to"
    frozen_clock.advance(601)
    at = client.post(change, {**opened, "email": "v@example.com"})["Location"]
    client.post(at, {"password": PASSWORD, "next": change})
    page = client.get(change)
    kept = shown(page)
    assert told in words_of(page.content.decode())
    assert (kept["email"], kept["role"], kept["is_active"]) == ("v@example.com", "", "")
    answer = client.post(change, {**opened, "email": "w@example.com"})
    kept = shown(answer)
    assert told in words_of(answer.content.decode()) and "Nothing was saved." in words_of(answer.content.decode())
    assert (kept["email"], kept["role"], kept["is_active"]) == ("w@example.com", "", "")
    with pytest.raises(StaleVersion, match=told):
        save_person(Actor.user("ada"), User.objects.get(pk=viewer.pk), "viewer", seen={})
    del kept["is_active"]
    assert client.post(change, kept).status_code == 302
    viewer.refresh_from_db()
    assert viewer.email == "w@example.com" and not viewer.is_active and not viewer.groups.exists()


def test_the_password_confirms_for_ten_minutes(sign_in: SignIn, frozen_clock: FrozenClock) -> None:
    client = sign_in("admin")
    frozen_clock.advance(601)
    at = client.get(ADD)["Location"]
    wrong = client.post(at, {"password": "wrong", "next": ADD})
    assert wrong.status_code == 422 and "That is not your password" in words_of(wrong.content.decode())
    assert client.get(ADD).status_code == 302
    assert client.post(at, {"password": PASSWORD, "next": ADD})["Location"] == ADD
    assert client.get(ADD).status_code == 200
    frozen_clock.advance(601)
    assert client.get(ADD).status_code == 302
    away = client.post("/confirm/", {"password": PASSWORD, "next": "https://evil.example/"})
    assert away["Location"] == "/"


def test_guessing_at_a_confirmation_is_slowed_down_like_a_login(sign_in: SignIn) -> None:
    client = sign_in("admin")
    statuses = [client.post("/confirm/", {"password": "wrong"}).status_code for _ in range(6)]
    assert statuses == [422] * 4 + [429] * 2


def test_a_person_changes_their_own_password_and_is_out_everywhere_else(sign_in: SignIn) -> None:
    here, there = sign_in("viewer"), sign_in("viewer")
    answer = here.post("/password/", {"password": PASSWORD, "new": NEW, "again": NEW})
    assert answer["Location"] == "/"
    assert here.get("/password/").status_code == 200 and there.get("/password/").status_code == 302
    action = Action.objects.get()
    assert (action.kind, action.actor, action.after) == ("set_user", "viewer", {"password": "changed"})
    assert Client().login is not None and User.objects.get(username="viewer").check_password(NEW)


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"password": "wrong", "new": NEW, "again": NEW}, "That is not your password"),
        ({"password": PASSWORD, "new": NEW, "again": "x"}, "The two are not the same"),
        ({"password": PASSWORD, "new": "short", "again": "short"}, "too short"),
        ({}, "That is not your password"),
    ],
)
def test_a_password_that_cannot_be_is_said(form: dict[str, str], words: str, sign_in: SignIn) -> None:
    answer = sign_in("viewer").post("/password/", form)
    assert answer.status_code == 422 and words in words_of(answer.content.decode())
    assert not Action.objects.exists()


def test_someone_without_a_password_here_is_told_where_it_is(sign_in: SignIn, people: dict[str, User]) -> None:
    people["viewer"].set_unusable_password()
    people["viewer"].save()
    client = sign_in("viewer")
    assert "You have no password here" in words_of(client.get("/password/").content.decode())
    client.post("/password/", {"password": "", "new": NEW, "again": NEW})
    assert not User.objects.get(username="viewer").has_usable_password()
