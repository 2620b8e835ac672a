"""Edit a deployment's settings: the Gateway's value beside the one that an operator sets in its place.

Two steps: the form, then what would change. An empty field gives the Gateway's value its place back. Nobody's edit is
overwritten: what someone else changed meanwhile is shown, and what was written is kept.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from iris_web.access import Act, require
from iris_web.pages import addresses
from iris_web.pages.act_done import done_text, undo_address
from iris_web.pages.act_fields import sentence, shown_version
from iris_web.pages.acts import CONFLICT, UNPROCESSABLE, actor_of
from iris_web.pages.deployment import find
from iris_web.pages.deployment_review import review
from iris_web.pages.deployment_settings import SOURCES, value_text
from iris_web.pages.shell import render_page
from scaling import clock, operations
from scaling.models import Deployment
from scaling.operations import EDIT_FIELDS, OperationRefused, StaleVersion
from scaling.operations.changes import called, last_change_of
from scaling.operations.deployment_fields import From, in_force, read_edit, source_of
from scaling.operations.labels import EDIT_LABELS as LABELS
from scaling.operations.labels import EDIT_SECTIONS as SECTIONS
from scaling.operations.written import changed
from scaling.operations.written import overrides_of as written
from scaling.previews.replicas import tick_preview
from scaling.previews.scopes import more_than_shown

UNITS = {
    "target_latency_p95_ms": "milliseconds",
    "target_rps": "requests a second",
    "tolerance": "a share: 0.1 is 10 %",
    "stabilization_window_seconds": "seconds",
    "cooldown_seconds": "seconds",
}


@dataclass(frozen=True, slots=True)
class EditField:
    """One input: what is written, what the Gateway or the default says, what is in force now."""

    name: str
    label: str
    unit: str
    help: str
    value: str
    instead_of: str
    in_force: str
    wrong: str


def changes_of(row: Deployment, given: Mapping[str, str]) -> dict[str, Any]:
    """The fields written differently from what is stored; what is no number stays text, for operations to refuse."""
    return changed(EDIT_FIELDS, written(row), given)


def edit(request: HttpRequest, deployment_id: str) -> HttpResponse:
    require(request, Act.SET_LIMITS)
    row = find(deployment_id)
    if request.method != "POST":
        return _form(request, row, written(row))
    given = {key: value.strip() for key, value in request.POST.dict().items()}
    version = shown_version(given, row.version)
    if given.get("step") == "edit":
        return _form(request, row, given, version=version)
    if version != row.version:
        last = last_change_of(row) or "someone else changed it"
        changed = sentence(f"{called(row)} has changed since you opened it: {last}")
        return _stale(request, deployment_id, given, changed)
    try:
        return _review_or_save(request, row, given, version)
    except StaleVersion as stale:
        return _stale(request, deployment_id, given, sentence(str(stale)))
    except OperationRefused as refused:
        return _form(request, row, given, faults(refused), status=UNPROCESSABLE)


def _review_or_save(request: HttpRequest, row: Deployment, given: Mapping[str, str], version: int) -> HttpResponse:
    changes = changes_of(row, given)
    read = read_edit(changes, row)
    if not changes:
        return _form(request, row, given, {"": "Nothing was changed yet."}, status=UNPROCESSABLE)
    effect = tick_preview(row, read)
    scope = effect.scope if effect else ()
    saving = given.get("step") == "save"
    newer = more_than_shown(scope, given["seen"].split()) if saving and "seen" in given else ""
    if saving and not newer:
        return _save(request, row, version, changes, given.get("reason", ""))
    context = {
        "row": row,
        "changes": review(row, read),
        "given": {name: value for name, value in given.items() if name not in ("seen", "step", "csrfmiddlewaretoken")},
        "version": version,
        "tick": effect,
        "seen": " ".join(scope),
        "notice": f"It would now do more than you were shown: {newer}. Nothing was saved; look again." if newer else "",
    }
    status = CONFLICT if newer else 200
    return render_page(request, "acts/deployment_review.html", context, nav="deployments", status=status)


def _save(request: HttpRequest, row: Deployment, version: int, changes: Mapping[str, Any], reason: str) -> HttpResponse:
    actor, began = actor_of(request), clock.now()
    operations.edit_deployment(actor, row.deployment_id, version, changes, reason)
    done = f"The settings of {row.deployment_id} are changed; its next tick uses them."
    messages.success(request, done_text(done, undo_address(actor, began)))
    return HttpResponseRedirect(addresses.deployment(row))


def faults(refused: OperationRefused) -> dict[str, str]:
    """The sentences of a refusal by field; what belongs to none stands under ""."""
    found: dict[str, str] = {}
    for fault in refused.faults:
        place = fault.path if fault.path in EDIT_FIELDS else ""
        found[place] = sentence(fault.message if place else str(fault))
    return found


def _stale(request: HttpRequest, deployment_id: str, given: Mapping[str, str], text: str) -> HttpResponse:
    """The form again: this person's changes kept, all they left alone as it is stored now."""
    row = find(deployment_id)
    stored, base = written(row), _base_of(given)
    merged = {name: stored[name] for name in EDIT_FIELDS if given.get(name) == base.get(name)}
    notice = f"{text} Nothing was saved. Your own changes are kept below; everything else is as it is now."
    fresh = {**given, **merged, "base": json.dumps(stored)}
    return _form(request, row, fresh, notice=notice, status=CONFLICT)


def _base_of(given: Mapping[str, str]) -> Mapping[str, Any]:
    """The values that the form was shown with."""
    try:
        base = json.loads(given.get("base", ""))
    except (ValueError, RecursionError):
        return {}
    return base if isinstance(base, dict) else {}


def _form(
    request: HttpRequest,
    row: Deployment,
    given: Mapping[str, str],
    wrong: Mapping[str, str] | None = None,
    *,
    version: int | None = None,
    notice: str = "",
    status: int = 200,
) -> HttpResponse:
    wrong = wrong or {}
    context = {
        "row": row,
        "version": row.version if version is None else version,
        "base": given.get("base") or json.dumps(written(row)),
        "sections": [(title, [_field(row, name, given, wrong) for name in names]) for title, names in SECTIONS],
        "problem": wrong.get("", ""),
        "notice": notice,
        "reason": given.get("reason", ""),
    }
    return render_page(request, "acts/deployment_edit.html", context, nav="deployments", status=status)


def _field(row: Deployment, name: str, given: Mapping[str, str], wrong: Mapping[str, str]) -> EditField:
    own = getattr(row, name)
    source, value = (From.DEFAULT, in_force(_bare(row), name)) if own is None else (From.GATEWAY, own)
    said = value_text(name, value)
    instead_of = f"{SOURCES[source]}: {said}"
    now = f"{value_text(name, in_force(row, name))}, {SOURCES[source_of(row, name)]}"
    return EditField(
        name, LABELS[name], UNITS.get(name, ""), EDIT_FIELDS[name].doc, given.get(name, ""), instead_of, now,
        wrong.get(name, ""),
    )  # fmt: skip


def _bare(row: Deployment) -> Deployment:
    """The deployment without what operators set."""
    return Deployment(**{name: getattr(row, name) for name in EDIT_FIELDS})
