"""Signing in and out, the theme, and pages that tell of errors."""

from collections.abc import Callable

import pytest
from django.db import OperationalError
from django.http import HttpRequest
from django.test import Client, RequestFactory

from iris_web.pages import errors
from iris_web.pages.theme import local_path
from scaling.models import Group
from tests.conftest import PASSWORD
from tests.pages.conftest import Get, words_of

SignIn = Callable[[str], Client]


def test_signing_in_leads_back_to_where_one_was_going(people: dict[str, object], group: Group) -> None:
    client = Client()
    answer = client.get("/groups/tpu-v5-8/?page=2")
    assert answer["Location"] == "/login/?next=%2Fgroups%2Ftpu-v5-8%2F%3Fpage%3D2"
    page = client.get(answer["Location"]).content.decode()
    assert 'autocomplete="current-password"' in page and "to see /groups/tpu-v5-8/" in page
    sent = client.post("/login/", {"username": "viewer", "password": PASSWORD, "next": "/groups/tpu-v5-8/?page=2"})
    assert sent.status_code == 302 and sent["Location"] == "/groups/tpu-v5-8/?page=2"


def test_a_wrong_password_says_nothing_about_which_was_wrong(people: dict[str, object]) -> None:
    known = Client().post("/login/", {"username": "viewer", "password": "x"}).content.decode()
    unknown = Client().post("/login/", {"username": "nobody", "password": "x"}).content.decode()
    assert "Please enter a correct username and password" in known and "Please enter a correct" in unknown
    assert 'role="alert"' in known


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "/\\evil.example"]
)
def test_no_form_sends_anyone_elsewhere(target: str, people: dict[str, object]) -> None:
    sent = Client().post("/login/", {"username": "viewer", "password": PASSWORD, "next": target})
    assert sent["Location"] == "/"
    assert Client().post("/theme/", {"theme": "dark", "next": target})["Location"] == "/"
    assert local_path(RequestFactory().get("/"), target) == "/"


def test_signing_out_takes_a_post_and_ends_the_session(group: Group, sign_in: SignIn) -> None:
    client = sign_in("viewer")
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/")["Location"] == "/login/"
    assert client.get("/").status_code == 302


def test_an_inactive_person_is_out_at_once(group: Group, people: dict[str, object], sign_in: SignIn) -> None:
    client = sign_in("viewer")
    people["viewer"].is_active = False  # type: ignore[attr-defined]
    people["viewer"].save()  # type: ignore[attr-defined]
    assert client.get("/groups/").status_code == 302


def test_the_admin_has_no_login_of_its_own(db: None) -> None:
    assert Client().get("/admin/login/?next=/admin/auth/")["Location"] == "/login/?next=%2Fadmin%2Fauth%2F"


@pytest.mark.parametrize(("theme", "attribute"), [("dark", 'data-theme="dark"'), ("light", 'data-theme="light"')])
def test_the_theme_is_in_the_first_byte(theme: str, attribute: str, group: Group, sign_in: SignIn) -> None:
    client = sign_in("viewer")
    answer = client.post("/theme/", {"theme": theme, "next": "/groups/?q=x"})
    assert answer["Location"] == "/groups/?q=x"
    assert answer.cookies["iris_theme"]["samesite"] == "Lax"
    assert f'<html lang="en" {attribute}>' in client.get("/").content.decode()
    client.post("/theme/", {"theme": "system"})
    assert '<html lang="en">' in client.get("/").content.decode()


def test_a_theme_nobody_offers_is_left_alone(group: Group, sign_in: SignIn) -> None:
    client = sign_in("viewer")
    assert "iris_theme" not in client.post("/theme/", {"theme": '"><script>'}).cookies
    client.cookies["iris_theme"] = "neon"
    assert '<html lang="en">' in client.get("/").content.decode()


def test_an_error_page_reads_nothing_and_tells_no_secrets(rf: RequestFactory) -> None:
    request = rf.get("/")
    answer = errors.failed(request)
    text = words_of(answer.content.decode())
    assert answer.status_code == 500 and "Something went wrong here" in text and "Traceback" not in text


def test_a_page_that_breaks_answers_with_the_error_page(
    group: Group, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_request: HttpRequest) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("iris_web.pages.groups.PageState.read", broken)
    client = sign_in("viewer")
    client.raise_request_exception = False
    answer = client.get("/groups/")
    assert answer.status_code == 500
    assert b"Something went wrong here" in answer.content and b"secret detail" not in answer.content


def test_a_request_that_cannot_be_read_is_told_so(rf: RequestFactory) -> None:
    answer = errors.bad_request(rf.get("/"), ValueError("x"))
    assert answer.status_code == 400 and b"cannot be read" in answer.content


def test_an_address_with_nothing_says_so(group: Group, see: Get) -> None:
    assert "There is nothing at this address" in see("/nowhere/", status=404)


@pytest.mark.parametrize(
    ("path", "role", "status"),
    [("/nowhere/", "viewer", 404), ("/groups/nothing/", "admin", 404), ("/settings/halt/", "viewer", 403)],
)
def test_an_error_page_keeps_the_navigation(path: str, role: str, status: int, group: Group, sign_in: SignIn) -> None:
    answer = sign_in(role).get(path)
    page = answer.content.decode()
    assert answer.status_code == status
    assert '<nav class="nav" aria-label="Pages">' in page and 'href="/demand/"' in page
    assert "Sign out" in page and 'id="live"' not in page


def test_a_page_that_breaks_keeps_the_navigation(
    group: Group, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iris_web.pages.groups.PageState.read", lambda *_: 1 / 0)
    client = sign_in("viewer")
    client.raise_request_exception = False
    page = client.get("/groups/").content.decode()
    assert "Something went wrong here" in page and 'href="/demand/"' in page


def test_an_error_of_the_database_still_has_its_page(
    group: Group, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object) -> None:
        raise OperationalError("database is gone")

    monkeypatch.setattr("iris_web.pages.groups.PageState.read", lost)
    monkeypatch.setattr("iris_web.pages.errors.role_of", lost)
    client = sign_in("viewer")
    client.raise_request_exception = False
    answer = client.get("/groups/")
    assert answer.status_code == 500 and b"Something went wrong here" in answer.content
    assert b'href="/demand/"' not in answer.content and b"database is gone" not in answer.content


def test_who_has_no_role_is_shown_no_navigation(group: Group, sign_in: SignIn) -> None:
    page = sign_in("outsider").get("/groups/").content.decode()
    assert "You have no role yet" in page and 'href="/demand/"' not in page and "Sign out" in page
