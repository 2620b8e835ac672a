"""Every act does the same by page, admin, API and shell: one Action, alike but for who and where, and one state."""

import getpass
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client

from scaling import operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Action, Deployment, Group, Installation, Marker, Platform, QuotaPool, Scaler, Slice
from scaling.testing import builders
from scaling.testing.sample_deployments import Scene, make_deployment, tick

pytestmark = pytest.mark.django_db
BO = Actor.user("bo")
END = "2026-01-01T14:00:00Z"
FORM_END = "2026-01-01T14:00"
WHY = {"reason": "why not"}


@dataclass(frozen=True, slots=True)
class Ways:
    """One act by each way: (path, what is sent) or a command line. A way that does not exist is None."""

    page: tuple[str, Mapping[str, Any]] | None
    api: tuple[str, Mapping[str, Any]]
    shell: tuple[str, ...]
    admin: tuple[str, Mapping[str, Any]] | None = None
    before: Callable[[], object] = field(default=lambda: None)


def on_groups(act: str, **fields: Any) -> tuple[str, Mapping[str, Any]]:
    return "/admin/scaling/group/", {"action": act, "_selected_action": "{group}", "confirm": "1", **WHY, **fields}


def on_deployments(act: str, **fields: Any) -> tuple[str, Mapping[str, Any]]:
    path = "/admin/scaling/deployment/"
    return path, {"action": act, "_selected_action": "{deployment}", "confirm": "1", **WHY, **fields}


def edited(model: str, **fields: Any) -> tuple[str, Mapping[str, Any]]:
    return f"/admin/scaling/{model}/{{{model}}}/change/", {"seen_version": "1", "_reviewed": "1", **WHY, **fields}


SAVE = {"step": "save", "version": "1", **WHY}
ACTS: dict[str, Ways] = {
    "drain": Ways(
        ("/groups/g/drain/", {**WHY, "deadline": FORM_END, "confirm": "g"}),
        ("/groups/g/drain", {**WHY, "deadline": END}),
        ("drain", "g", "--deadline", END),
        on_groups("drain", end=FORM_END, name="g"),
    ),
    "undrain": Ways(
        ("/groups/g/undrain/", WHY), ("/groups/g/undrain", WHY), ("undrain", "g"), on_groups("undrain"),
        before=lambda: operations.drain_group(BO, "g", "rack"),
    ),
    "pause": Ways(
        ("/groups/g/pause/", {**WHY, "until": FORM_END}), ("/groups/g/pause", {**WHY, "until": END}),
        ("pause", "g", "--until", END), on_groups("pause", end=FORM_END),
    ),
    "resume": Ways(
        ("/groups/g/resume/", WHY), ("/groups/g/resume", WHY), ("resume", "g"), on_groups("resume"),
        before=lambda: operations.pause_group(BO, "g", "rack"),
    ),
    "limits": Ways(
        ("/groups/g/limits/", {**SAVE, "max_slices": "12", "idle_threshold_seconds": "60"}),
        ("/groups/g/limits", {**WHY, "version": 1, "max_slices": 12, "idle_threshold_seconds": 60}),
        ("set_limits", "g", "max_slices=12", "idle_threshold_seconds=60"),
        edited("group", max_slices="12", idle_threshold_seconds="60"),
    ),
    "drain a slice": Ways(("/slices/s/drain/", WHY), ("/slices/s/drain", WHY), ("drain", "s")),
    "undrain a slice": Ways(
        ("/slices/s/undrain/", WHY), ("/slices/s/undrain", WHY), ("undrain", "s"),
        before=lambda: operations.drain_slice(BO, "s"),
    ),
    "acknowledge": Ways(
        ("/stockouts/{marker}/acknowledge/", {"note": "why not", "until": FORM_END}),
        ("/markers/{marker}/acknowledge", {"note": "why not", "until": END}),
        ("acknowledge", "g", "--note", "why not", "--until", END),
    ),
    "clear": Ways(("/stockouts/{marker}/clear/", WHY), ("/markers/{marker}/clear", WHY), ("clear_marker", "g")),
    "hold": Ways(
        ("/stockouts/{marker}/hold/", {**WHY, "until": FORM_END}), ("/markers/{marker}/hold", {**WHY, "until": END}),
        ("hold_marker", "g", "--until", END),
    ),
    "quota": Ways(
        None, ("/pools/p/limits", {**WHY, "version": 1, "limit": 128}), ("set_quota", "p", "limit=128"),
        edited("quotapool", limit="128"),
    ),
    "forget a learned limit": Ways(
        ("/pools/{quotapool}/forget/", WHY), ("/pools/p/forget_learned_limit", WHY), ("forget_learned_limit", "p"),
    ),
    "mode": Ways(
        ("/settings/platforms/{platform}/observe/", WHY), ("/platforms/simulated/mode", {**WHY, "mode": "observe"}),
        ("set_mode", "simulated", "observe"),
    ),
    "halt": Ways(("/settings/halt/", WHY), ("/halt", WHY), ("halt",)),
    "unhalt": Ways(("/settings/unhalt/", WHY), ("/unhalt", WHY), ("unhalt",), before=lambda: operations.halt(BO)),
    "pause a deployment": Ways(
        ("/deployments/chat/pause/", {**WHY, "direction": "up", "until": FORM_END}),
        ("/deployments/chat/pause", {**WHY, "direction": "up", "until": END}),
        ("pause", "chat", "--direction", "up", "--until", END),
        on_deployments("pause", direction="up", until=FORM_END),
    ),
    "resume a deployment": Ways(
        ("/deployments/chat/resume/", WHY), ("/deployments/chat/resume", WHY), ("resume", "chat"),
        on_deployments("resume"), before=lambda: operations.pause_deployment(BO, "chat"),
    ),
    "scale": Ways(
        ("/deployments/chat/scale/", {**WHY, "replicas": "6"}), ("/deployments/chat/scale", {**WHY, "replicas": 6}),
        ("scale", "chat", "6"),
    ),
    "wake": Ways(
        ("/deployments/chat/wake/", WHY), ("/deployments/chat/wake", WHY), ("wake", "chat"),
        before=lambda: operations.scale_deployment(BO, "chat", 0),
    ),
    "targets": Ways(
        ("/deployments/chat/edit/", {**SAVE, "target_rps": "50", "max_replicas": "20"}),
        ("/deployments/chat/settings", {**WHY, "version": 1, "target_rps": 50, "max_replicas": 20}),
        ("set_targets", "chat", "target_rps=50", "max_replicas=20"),
        edited("deployment", target_rps="50", max_replicas="20"),
    ),
    "forget absent ones": Ways(
        ("/deployments/absent/forget/", WHY), ("/deployments/absent/forget", WHY), ("forget_absent",),
        before=lambda: Deployment.objects.update(absent_since=datetime.fromisoformat(END)),
    ),
}  # fmt: skip


@pytest.fixture
def keys(frozen_clock: FrozenClock) -> dict[str, int]:
    """One of everything, and the keys that stand in the addresses."""
    now: datetime = frozen_clock()
    builders.make_installation()
    pool = QuotaPool.objects.create(name="p", limit=64, learned_limit=8, learned_at=now)
    group = builders.make_group("g", quota_pool=pool)
    row = builders.make_slice(group, now, idle=None, name="s")
    builders.make_task(builders.make_job(now, "runs", pending_tasks=0), row.workers.get(), now)
    marker = builders.make_marker(group, now, until=now + timedelta(minutes=14))
    chat = make_deployment("chat", now)
    tick(chat, now, Scene(healthy=4))
    platform = Platform.objects.get()
    return {
        "group": group.pk,
        "quotapool": pool.pk,
        "marker": marker.pk,
        "deployment": chat.pk,
        "platform": platform.pk,
    }


def state(actor: str) -> dict[str, list[dict[str, Any]]]:
    """All that acts may set; the name of who did it stands as `<actor>`, an Action's number as nothing."""
    models = (Group, Slice, Marker, QuotaPool, Platform, Installation, Deployment, Scaler)
    rows = {model.__name__: list(model._default_manager.order_by("pk").values()) for model in models}
    return {
        name: [{key: _told(key, value, actor) for key, value in row.items()} for row in found]
        for name, found in rows.items()
    }


def _told(key: str, value: Any, actor: str) -> Any:
    return "" if key == "wanted_action_id" else "<actor>" if value == actor else value


def told(action: Action, actor: str) -> dict[str, Any]:
    """An Action without its number and origin."""

    def nameless(values: Any) -> Any:
        return {key: _told(key, value, actor) for key, value in values.items()} if isinstance(values, dict) else values

    names = ("kind", "group", "slice", "job", "target", "reason", "outcome", "cause_id", "cycle", "at")
    row = {name: getattr(action, name) for name in names}
    return row | {"before": nameless(action.before), "after": nameless(action.after)}


@pytest.mark.parametrize("name", ACTS)
def test_an_act_is_the_same_by_page_admin_api_and_shell(
    name: str, keys: dict[str, int], sign_in: Callable[[str], Client]
) -> None:
    ways, admin = ACTS[name], sign_in("admin")
    _token, secret = operations.create_token(BO, "ci", "admin")
    ways.before()

    def sent(path: str, fields: Mapping[str, Any]) -> int:
        given = {key: value.format(**keys) if isinstance(value, str) else value for key, value in fields.items()}
        return admin.post(path.format(**keys), given).status_code

    def called(path: str, body: Mapping[str, Any]) -> int:
        headers = {"Authorization": f"Bearer {secret}"}
        at = f"/api/v1{path.format(**keys)}"
        return (
            302 if Client().post(at, body, content_type="application/json", headers=headers).status_code == 200 else 0
        )

    def typed(*words: str) -> int:
        noted = () if "--note" in words else ("--reason", "why not")
        call_command(*words, *noted, stdout=StringIO())
        return 302

    by: dict[str, tuple[Callable[[], int], str]] = {
        "api": (lambda: called(*ways.api), "ci"),
        "shell": (lambda: typed(*ways.shell), getpass.getuser()),
    }
    for source, way in (("page", ways.page), ("admin", ways.admin)):
        if way is not None:
            by[source] = (partial(sent, *way), "admin")
    results = {}
    for source, (do, actor) in by.items():
        latest = Action.objects.latest("id").pk
        with transaction.atomic():
            assert do() == 302, source
            done = list(Action.objects.filter(pk__gt=latest))
            assert len(done) == 1, f"exactly one Action by {source}"
            assert (done[0].source, done[0].actor) == (source, actor)
            results[source] = told(done[0], actor), state(actor)
            transaction.set_rollback(True)
    assert results["api"][0]["reason"] == "why not"
    for source, result in results.items():
        assert result == results["api"], source
