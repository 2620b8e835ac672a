"""People from a shell: a new password, another admin, an end of waiting; each an Action."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import Group as UserGroup
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from iris_web.live.sessions import access_of
from scaling.models import Action
from scaling.people import role_name
from scaling.supervisor import first_start
from scaling.testing import builders
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

NEW = "another horse battery"
Type = Callable[..., list[bool]]


@pytest.fixture(autouse=True)
def cluster(db: None) -> None:
    builders.make_installation()


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch) -> Type:
    """`types("a", "b")` are what a person types one after the other; returns whether a transaction ran meanwhile."""

    def typed(*lines: str) -> list[bool]:
        left, locked = iter(lines), []

        def ask(*_: Any, **__: Any) -> str:
            locked.append(len(connection.savepoint_ids) > 0)
            return _next(left)

        monkeypatch.setattr("getpass.getpass", ask)
        monkeypatch.setattr("builtins.input", ask)
        return locked

    return typed


def _next(left: Iterable[str]) -> str:
    for line in left:
        return line
    raise EOFError


def test_a_new_password_ends_the_sessions_and_is_told_to_the_history(
    sign_in: Callable[[str], Client], types: Type
) -> None:
    client = sign_in("viewer")
    key = client.session.session_key or ""
    types(NEW, NEW)
    call_command("changepassword", "viewer")
    assert User.objects.get(username="viewer").check_password(NEW)
    assert client.get("/password/").status_code == 302 and access_of(key) is None
    action = Action.objects.get()
    assert (action.kind, action.target, action.source) == ("set_user", "user viewer", "shell")
    assert action.after == {"password": "changed"}


def test_nothing_is_locked_while_a_person_types(people: dict[str, User], types: Type) -> None:
    locked = types("x", "y", "short", "short", NEW, NEW)
    call_command("changepassword", "viewer")
    assert locked == [False] * 6
    locked = types("eve", NEW, NEW)
    call_command("createsuperuser")
    assert locked == [False] * 3


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["x", "y"] * 3, "no password after 3 tries"),
        (["short", "short"] * 3, "no password after 3 tries"),
        ([""], "no password was typed"),
        ([], "nobody is there to type"),
    ],
)
def test_a_password_that_is_not_typed_well_changes_nothing(
    lines: list[str], words: str, people: dict[str, User], types: Type
) -> None:
    types(*lines)
    with pytest.raises(CommandError, match=words):
        call_command("changepassword", "viewer")
    assert User.objects.get(username="viewer").check_password(PASSWORD) and not Action.objects.exists()


def test_a_name_that_nobody_has_is_said() -> None:
    User.objects.create_user("viewer")
    for command in ("changepassword", "unlock_user"):
        with pytest.raises(CommandError, match=r"nobody is named eve here$"):
            call_command(command, "eve")
        with pytest.raises(CommandError, match=r'nobody is named viewr here; did you mean "viewer"\?$'):
            call_command(command, "viewr")


def test_another_admin_is_told_to_the_history(types: Type) -> None:
    types(NEW, NEW)
    call_command("createsuperuser", username="eve", email="eve@example.com")
    eve = User.objects.get()
    assert role_name(eve) == "admin" and eve.is_staff and eve.check_password(NEW)
    action = Action.objects.get()
    assert (action.kind, action.target, action.source) == ("create_user", "user eve", "shell")
    assert action.after == {"name": "eve", "email": "eve@example.com", "role": "admin", "is_active": True}


def test_an_admin_is_made_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for what, value in (("USERNAME", "eve"), ("PASSWORD", NEW)):
        monkeypatch.setenv(f"DJANGO_SUPERUSER_{what}", value)
    call_command("createsuperuser", "--noinput")
    assert User.objects.get().check_password(NEW) and Action.objects.get().kind == "create_user"
    monkeypatch.delenv("DJANGO_SUPERUSER_PASSWORD")
    call_command("createsuperuser", "--noinput", username="bo")
    assert not User.objects.get(username="bo").has_usable_password()


@pytest.mark.parametrize(
    ("name", "email", "words"),
    [
        ("", "", "username: "),
        ("a b", "", "username: "),
        ("viewer", "", "already exists"),
        ("eve", "x", "email: "),
        ("\u0435ve", "", "username: expected letters of one alphabet"),
        ("VIEWER", "", 'looks like "viewer"'),
    ],
)
def test_an_admin_who_cannot_be_made_is_said(name: str, email: str, words: str, people: dict[str, User]) -> None:
    with pytest.raises(CommandError, match=words):
        call_command("createsuperuser", "--noinput", username=name, email=email)
    assert not Action.objects.exists()


def test_the_shell_lets_someone_try_again(people: dict[str, User]) -> None:
    for _ in range(5):
        Client().post("/login/", {"username": "viewer", "password": "wrong"})
    call_command("unlock_user", "viewer")
    assert not AccessAttempt.objects.exists()
    action = Action.objects.get()
    assert (action.kind, action.target, action.source) == ("unlock_user", "user viewer", "shell")
    with pytest.raises(CommandError, match="no wrong password"):
        call_command("unlock_user", "viewer")


def test_the_first_admin_is_told_to_the_history() -> None:
    first_start.make_roles()
    password = first_start.make_first_admin()
    admin = User.objects.get()
    assert admin.check_password(password or "") and admin.is_superuser and admin.is_staff
    assert list(admin.groups.all()) == [UserGroup.objects.get(name="admin")]
    action = Action.objects.get()
    assert (action.kind, action.target, action.source) == ("create_user", "user admin", "shell")
    assert first_start.make_first_admin() is None and Action.objects.count() == 1
