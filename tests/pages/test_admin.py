"""The admin: the same validation and the same Actions as everywhere, and two editors cannot overwrite each other."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from scaling import clock, operations, people, tokens
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Action, ApiToken, Group, NoticeChannel, QuotaPool
from scaling.operations import OperationRefused
from scaling.testing import builders
from scaling.testing.sample_deployments import make_deployment
from tests.conftest import PASSWORD
from tests.pages.conftest import words_of


@pytest.fixture
def client(group: Group, sign_in: Callable[[str], Client]) -> Client:
    return sign_in("admin")


def filled(client: Client, path: str) -> dict[str, str]:
    """The form as shown, as a browser would send it back."""
    form = client.get(path).context["adminform"].form
    values = {name: form[name].value() for name in form.fields}
    return {name: "" if value is None else str(value) for name, value in values.items()}


def save(client: Client, path: str, status: int = 302, **changes: object) -> str:
    """Send the form with these changes, and where a review stands between it and the save, that too."""
    again = {"again": changes["password"]} if "password" in changes else {}
    form = filled(client, path) | {k: str(v) for k, v in (changes | again).items()}
    answer = client.post(path, form)
    if answer.status_code == 200 and "review" in (answer.context or {}):
        answer = client.post(path, form | {"_reviewed": "1", "_seen": answer.context["seen"]})
    assert answer.status_code == status, words_of(answer.content.decode())
    return words_of(answer.content.decode())


def twice(password: str) -> dict[str, str]:
    return {"password": password, "again": password}


def at(row: Any) -> str:
    return f"/admin/{row._meta.app_label}/{row._meta.model_name}/{row.pk}/change/"


def test_a_limit_is_changed_through_operations(client: Client, group: Group) -> None:
    save(client, at(group), max_slices=12, reason="release night")
    group.refresh_from_db()
    assert (group.max_slices, group.version) == (12, 2)
    action = Action.objects.get()
    assert (action.kind, action.actor, action.source, action.reason) == (
        "set_limits",
        "admin",
        "admin",
        "release night",
    )
    assert (action.before, action.after) == ({"max_slices": 8}, {"max_slices": 12})


def test_what_a_group_is_cannot_be_edited(client: Client, group: Group) -> None:
    save(client, at(group), name="other", zone="mars", workers_per_slice=9, max_slices=9)
    group.refresh_from_db()
    assert (group.name, group.zone, group.workers_per_slice, group.max_slices) == ("tpu-v5-8", "us-east5-a", 1, 9)


def test_saving_without_a_change_does_nothing_and_says_so(client: Client, group: Group, now: datetime) -> None:
    pool = QuotaPool.objects.create(name="p", limit=64, learned_limit=8, learned_at=now)
    for row in (group, pool, make_deployment("chat", now)):
        text = save(client, at(row), 422, reason="just looking")
        assert "Nothing was changed yet." in text and "successfully" not in text, row
        assert client.post(at(row), filled(client, at(row)) | {"_reviewed": "1"}).status_code == 422
    page = client.post(at(pool), filled(client, at(pool))).content.decode()
    assert "The learned limit of 8 holds on;" in page and f"/pools/{pool.pk}/forget/" in page
    for thing in (User.objects.get(username="viewer"), NoticeChannel.objects.create(name="hook", masked="json://…")):
        shown = client.get(at(thing)).context
        form = shown["adminform"].form if "adminform" in shown else shown["form"]
        sent = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False, "")}
        text = words_of(client.post(at(thing), sent, follow=True).content.decode())
        assert "Nothing was changed yet." in text and "successfully" not in text and "Saved" not in text, thing
    pool.refresh_from_db()
    assert pool.learned_limit == 8 and not Action.objects.exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"min_slices": 9}, "expected at most max_slices (8), got 9"),
        ({"max_slices": -1}, "expected a whole number of at least 0, got -1"),
        ({"idle_threshold_seconds": 10**9}, "expected a number of at most"),
        ({"attributes": "[1]"}, "expected an object of names and values"),
    ],
)
def test_a_wrong_limit_is_refused_with_a_sentence(
    changes: dict[str, object], words: str, client: Client, group: Group
) -> None:
    assert words in save(client, at(group), 200, **changes)
    group.refresh_from_db()
    assert group.version == 1 and not Action.objects.exists()


def test_the_second_of_two_editors_is_told(client: Client, group: Group) -> None:
    form = filled(client, at(group))
    operations.set_group_limits(Actor.user("bo"), group.name, 1, {"min_slices": 3})
    operations.set_group_limits(Actor.user("bo"), group.name, 2, {"max_slices": 20})
    answer = client.post(at(group), form | {"max_slices": "12"})
    text = words_of(answer.content.decode())
    assert "tpu-v5-8 has changed since you opened it: bo changed Max slices from 8 to 20, just now." in text
    assert "Nothing was saved: your changes are kept below" in text and "Stored now: 20." in text
    group.refresh_from_db()
    assert (group.min_slices, group.max_slices) == (3, 20)
    shown = answer.context["adminform"].form
    again = {name: shown[name].value() or "" for name in shown.fields}
    assert (again["max_slices"], again["min_slices"], again["seen_version"]) == ("12", "3", "3")
    assert client.post(at(group), again | {"_reviewed": "1"}).status_code == 302
    group.refresh_from_db()
    assert (group.min_slices, group.max_slices) == (3, 12)


def test_a_change_between_the_check_and_the_save_is_refused_too(
    client: Client, group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scaling.admin.groups import GroupAdmin

    def overtaken(*_: object) -> None:
        Group.objects.filter(pk=group.pk).update(version=2, min_slices=1)

    form = filled(client, at(group)) | {"max_slices": "12", "_reviewed": "1"}
    monkeypatch.setattr(GroupAdmin, "_before_saving", overtaken)
    monkeypatch.setattr("scaling.admin.written_forms.WrittenForm.clean", lambda self: self.cleaned_data)
    answer = client.post(at(group), form, follow=True)
    assert "Nothing was saved: group tpu-v5-8 has changed since you looked at it: " in words_of(answer.content.decode())
    assert Group.objects.get().max_slices == 8


def test_a_quota_pool_is_edited_and_its_learned_limit_forgotten(client: Client, now: datetime) -> None:
    pool = QuotaPool.objects.create(name="p", limit=64, learned_limit=8, learned_at=now)
    save(client, at(pool), limit=128, reason="more granted")
    pool.refresh_from_db()
    assert (pool.limit, pool.learned_limit) == (128, None)
    assert Action.objects.get().kind == "set_quota"
    QuotaPool.objects.update(learned_limit=4, learned_at=now)
    answer = client.post(
        "/admin/scaling/quotapool/", {"action": "forget_learned_limits", "_selected_action": [pool.pk]}, follow=True
    )
    assert "Forgotten: p." in words_of(answer.content.decode())


def test_groups_are_drained_together_after_a_confirmation(client: Client, group: Group, now: datetime) -> None:
    other = builders.make_group("tpu-other")
    builders.make_slice(group, now, idle=None)
    operations.drain_group(Actor.user("bo"), other.name)
    chosen = {"action": "drain", "_selected_action": [group.pk, other.pk]}
    page = client.post("/admin/scaling/group/", chosen)
    assert "2 groups: Group Zone Slices In use" in words_of(page.content.decode())
    assert "tpu-v5-8 us-east5-a 1 1" in words_of(page.content.decode())
    group.refresh_from_db()
    assert group.drain_since is None
    unsure = client.post("/admin/scaling/group/", chosen | {"confirm": "1", "name": "tpu-v5-8"})
    assert unsure.status_code == 422 and "Expected 2 groups to be typed" in words_of(unsure.content.decode())
    sure = chosen | {"confirm": "1", "reason": "rack 4", "name": "2 groups", "seen": page.context["seen"]}
    done = client.post("/admin/scaling/group/", sure, follow=True)
    text = words_of(done.content.decode())
    assert "Draining: tpu-v5-8." in text and "Not done for tpu-other: group tpu-other is draining" in text
    assert Action.objects.filter(kind="drain", source="admin", reason="rack 4").count() == 1
    client.post("/admin/scaling/group/", {"action": "undrain", "_selected_action": [group.pk], "confirm": "1"})
    client.post("/admin/scaling/group/", {"action": "pause", "_selected_action": [group.pk], "confirm": "1"})
    group.refresh_from_db()
    assert group.drain_since is None and group.pause_by == "admin"
    client.post("/admin/scaling/group/", {"action": "resume", "_selected_action": [group.pk], "confirm": "1"})
    group.refresh_from_db()
    assert group.pause_since is None


def test_nothing_is_added_or_deleted_by_hand(client: Client, group: Group) -> None:
    assert client.get("/admin/scaling/group/add/").status_code == 403
    assert client.post(f"/admin/scaling/group/{group.pk}/delete/", {"post": "yes"}).status_code == 403
    assert Group.objects.exists()


def test_history_opens_the_actions_of_the_thing(client: Client, group: Group) -> None:
    assert client.get(f"/admin/scaling/group/{group.pk}/history/")["Location"] == "/actions/?group=tpu-v5-8"


def secret_in(page: Any) -> str:
    found = re.search(r'class="secret"[^>]*>([^<]+)<', page.content.decode())
    return found[1] if found else ""


def test_a_secret_is_shown_for_minutes_to_who_made_it_and_stored_hashed(
    client: Client, sign_in: Callable[[str], Client], still: FrozenClock
) -> None:
    path = "/admin/scaling/apitoken/add/"
    made = client.post(path, {"name": "slurm", "role": "scheduler", "scope": "slurm", "expires_at": "2026-06-01T00:00"})
    token = ApiToken.objects.get()
    place = f"/admin/scaling/apitoken/{token.pk}/secret/"
    secret, cookie = secret_in(client.get(place)), made.cookies["iris_shown_once"]
    assert made["Location"] == place and tokens.verify(secret, clock.now()) == token
    assert secret_in(client.get(place)) == secret, "loaded again"
    assert (cookie["path"], cookie["max-age"], cookie["httponly"], cookie["samesite"]) == (place, 300, True, "Strict")
    assert secret not in str(dict(client.session.items())) + made["Location"] + cookie.value
    assert not secret_in(sign_in("admin").get(place))
    other = sign_in("admin")
    other.cookies["iris_shown_once"] = cookie.value
    assert not secret_in(other.get(place)), "the cookie alone tells nothing"
    still.advance(300)
    assert "If it is lost, revoke the token and make another." in words_of(
        client.get(place, follow=True).content.decode()
    )
    assert "iris_shown_once" not in client.session
    assert secret not in (token.digest, token.prefix) and token.created_by == "admin"
    page = client.get(at(token)).content.decode()
    assert secret not in page and token.digest not in page
    assert Action.objects.get().kind == "create_token" and secret not in str(Action.objects.values())
    for wrong in (
        {"name": "slurm", "role": "viewer"},
        {"name": "x", "role": "scheduler"},
        {"name": "", "role": "viewer"},
    ):
        refused = client.post(path, wrong)
        assert refused.status_code == 200 and "errorlist" in refused.content.decode()
    assert ApiToken.objects.count() == 1
    place = client.post(path, {"name": "ci", "role": "viewer"})["Location"]
    assert secret_in(client.get(place)) and client.post(place).status_code == 302
    assert not secret_in(client.get(place)), "done"


def test_tokens_are_revoked_and_otherwise_left_alone(client: Client) -> None:
    token, _ = operations.create_token(Actor.user("ana"), "slurm", "viewer")
    assert client.post(at(token), {"name": "other"}).status_code == 403
    client.post("/admin/scaling/apitoken/", {"action": "revoke", "_selected_action": [token.pk]})
    token.refresh_from_db()
    assert token.revoked_at is not None and token.name == "slurm"
    operations.create_token(Actor.user("ana"), "ci", "viewer")
    page = client.get("/admin/scaling/apitoken/").content.decode()
    assert page.count('<b class="ended">revoked</b>') == 1 and page.count("in force") == 1
    page += client.get(at(token)).content.decode() + client.get("/admin/scaling/apitoken/add/").content.decode()
    assert "viewer" in page and "Viewer" not in page, "roles as those of people are told"


def test_a_person_is_made_with_a_role_and_can_sign_in(client: Client) -> None:
    made = client.post(
        "/admin/auth/user/add/",
        {"username": "bo", "email": "", "role": "operator", "is_active": "on", **twice("plenty-of-room-9")},
    )
    assert made.status_code == 302
    bo = User.objects.get(username="bo")
    assert people.role_name(bo) == "operator" and bo.check_password("plenty-of-room-9")
    action = Action.objects.get()
    assert (action.kind, action.target, action.after["role"]) == ("create_user", "user bo", "operator")
    assert "plenty" not in str(action.after)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"username": "bo", **twice("short")}, "This password is too short"),
        ({"username": "bo", **twice("")}, "This field is required"),
        ({"username": "bo", "password": "plenty-of-room-9", "again": "plenty-of-room-8"}, "The two are not the same."),
        ({"username": "viewer", **twice("plenty-of-room-9")}, "already exists"),
        ({"username": "b o!", **twice("plenty-of-room-9")}, "Enter a valid username"),
        ({"username": "v\u0456ewer", **twice("plenty-of-room-9")}, "expected letters of one alphabet"),
        ({"username": "iris", **twice("plenty-of-room-9")}, '"iris" is what the history calls Iris itself'),
        ({"username": "Viewer", **twice("plenty-of-room-9")}, '"Viewer" looks like "viewer", which is taken'),
    ],
)
def test_a_person_who_cannot_be_made_is_said(fields: dict[str, str], words: str, client: Client) -> None:
    answer = client.post("/admin/auth/user/add/", {"role": "viewer", "is_active": "on", **fields})
    assert words in words_of(answer.content.decode()) and not Action.objects.exists()


def test_a_role_and_a_password_are_changed_with_an_action(client: Client) -> None:
    person = User.objects.get(username="viewer")
    save(client, at(person), email="vera@example.com")
    assert User.objects.get(username="viewer").check_password(PASSWORD), "an empty one stays as it is"
    save(client, at(person), role="operator", password="plenty-of-room-9", is_active="on")
    person = User.objects.get(username="viewer")
    assert people.role_name(person) == "operator" and person.check_password("plenty-of-room-9")
    first, action = Action.objects.order_by("id")
    assert (first.before, first.after) == ({"email": ""}, {"email": "vera@example.com"})
    assert action.before == {"role": "viewer"} and action.after == {"role": "operator", "password": "changed"}


def test_the_last_admin_cannot_lock_everyone_out(client: Client) -> None:
    admin = User.objects.get(username="admin")
    assert "the last admin must stay an active admin" in save(client, at(admin), 200, role="viewer", is_active="on")
    answer = client.post(at(admin), {k: v for k, v in filled(client, at(admin)).items() if k != "is_active"})
    assert "the last admin" in words_of(answer.content.decode())
    with pytest.raises(OperationRefused):
        people.save_person(Actor.user("x"), admin, "")
    admin.refresh_from_db()
    assert people.role_name(admin) == "admin" and admin.is_active
    User.objects.create_superuser("root", password=PASSWORD)
    save(client, at(admin), role="viewer", is_active="on")
    assert client.get("/admin/").status_code == 403


def test_changing_ones_own_password_keeps_the_session(client: Client) -> None:
    admin = User.objects.get(username="admin")
    save(client, at(admin), role="admin", password="plenty-of-room-9", is_active="on")
    assert client.get("/admin/").status_code == 200


def test_the_admin_shows_no_groups_of_permissions(client: Client) -> None:
    text = words_of(client.get("/admin/").content.decode())
    assert "Quota pools" in text and "API tokens" in text and "Users" in text
    assert "What people did" in text and "Recent actions" not in text
    assert client.get("/admin/auth/group/").status_code == 404


@pytest.mark.parametrize("table", ["schedule", "success", "failure", "ormq"])
def test_the_admin_offers_no_way_to_queue_a_function(client: Client, table: str) -> None:
    assert client.get(f"/admin/django_q/{table}/").status_code == 404
    assert client.get(f"/admin/django_q/{table}/add/").status_code == 404
    assert "Scheduled tasks" not in words_of(client.get("/admin/").content.decode())


def test_the_admin_writes_times_and_names_as_the_pages_do(client: Client, group: Group) -> None:
    operations.create_token(Actor.user("bo"), "ci", "viewer")
    ApiToken.objects.update(last_used_at=datetime(2026, 1, 1, 23, 24, 5, tzinfo=UTC))
    page = client.get("/admin/scaling/apitoken/").content.decode()
    assert "2026-01-01 23:24:05 UTC" in page and "p.m." not in page
    for kind, plural in (
        ("apitoken", "API tokens"),
        ("quotapool", "Quota pools"),
        ("noticechannel", "Notice channels"),
    ):
        text = words_of(client.get(f"/admin/scaling/{kind}/").content.decode())
        assert f"Admin › {plural} {plural}" in text, "the same words in the crumbs and above the page"
    text = words_of(client.get("/admin/auth/user/").content.decode())
    assert "Admin › Users Users" in text and "Authentication" not in words_of(client.get("/admin/").content.decode())
    assert "Admin › People People" in words_of(client.get("/admin/auth/").content.decode())
    assert "Admin › Users › New user New user" in words_of(client.get("/admin/auth/user/add/").content.decode())
    form = words_of(client.get(at(group)).content.decode())
    assert "Admin › Groups › tpu-v5-8 Group tpu-v5-8" in form
    assert 'value="Review the change"' in client.get(at(group)).content.decode()


def test_the_order_of_a_group_stands_beside_its_name(client: Client, group: Group) -> None:
    page = client.get("/admin/scaling/group/").content.decode()
    assert page.index("column-name") < page.index("column-ordered") < page.index("column-held")
    assert 'data-filter-title="zone">' in page, "filters are folded until one is chosen"
