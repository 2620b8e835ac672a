"""Edit a deployment's settings: the Gateway's value beside the one that an operator sets in its place.

Two steps: the form, then what would change. An empty field gives the Gateway's value its place back. Nobody's edit is
overwritten: what someone else changed meanwhile is shown, and what was written is kept.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from iris_web.access import Act, require
from iris_web.pages import addresses
from iris_web.pages.acts import CONFLICT, UNPROCESSABLE, actor_of, sentence, shown_version
from iris_web.pages.deployment import find
from iris_web.pages.deployment_briefs import doing_of
from iris_web.pages.deployment_rows import DeploymentRow
from iris_web.pages.deployment_settings import LABELS, SOURCES, value_text
from iris_web.pages.shell import render_page
from iris_web.pages.words import plural
from scaling import clock, operations
from scaling.models import Deployment
from scaling.operations import EDIT_FIELDS, OperationRefused, StaleVersion
from scaling.operations.deployment_fields import From, in_force, read_edit, source_of
from scaling.operations.inputs import Whole
from scaling.replicas.decision import LimitCode

SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Replicas", ("min_replicas", "max_replicas", "scale_up_limit")),
    ("Targets", ("target_latency_p95_ms", "target_rps", "tolerance")),
    ("Time", ("stabilization_window_seconds", "cooldown_seconds")),
)
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


def written(row: Deployment) -> dict[str, str]:
    """Every override as its field is written; empty where the Gateway's value is in force."""
    return {name: _plain(row.overrides.get(name)) for name in EDIT_FIELDS}


def _plain(value: Any) -> str:
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def changes_of(row: Deployment, given: Mapping[str, str]) -> dict[str, Any]:
    """The fields written differently from what is stored; what is no number stays text, for operations to refuse."""
    stored = written(row)
    return {name: _read(name, given[name]) for name in EDIT_FIELDS if name in given and given[name] != stored[name]}


def _read(name: str, text: str) -> Any:
    if not text:
        return None
    try:
        return int(text) if isinstance(EDIT_FIELDS[name].kind, Whole) else float(text)
    except ValueError:
        return text


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
        return _stale(request, deployment_id, given, f"{deployment_id} was changed by someone else meanwhile.")
    changes = changes_of(row, given)
    try:
        if given.get("step") == "save":
            operations.edit_deployment(actor_of(request), deployment_id, version, changes, given.get("reason", ""))
            messages.success(request, f"The settings of {deployment_id} are changed; its next tick uses them.")
            return HttpResponseRedirect(addresses.deployment(row))
        read = read_edit(changes, row)
    except StaleVersion as stale:
        return _stale(request, deployment_id, given, sentence(str(stale)))
    except OperationRefused as refused:
        return _form(request, row, given, faults(refused), status=UNPROCESSABLE)
    if not changes:
        return _form(request, row, given, {"": "Nothing was changed yet."}, status=UNPROCESSABLE)
    context = {"row": row, "changes": review(row, read), "given": given, "names": list(changes), "version": version}
    return render_page(request, "acts/deployment_review.html", context, nav="deployments")


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


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the review: what is in force now, what will be, and what follows where that is certain."""

    label: str
    before: str
    after: str
    note: str


def review(row: Deployment, read: Mapping[str, Any]) -> Sequence[Change]:
    """What would change, field by field."""
    now = clock.now()
    seen = DeploymentRow(row, doing_of(row, now), now)
    after = Deployment(**{name: getattr(row, name) for name in EDIT_FIELDS})
    after.overrides = {**row.overrides, **read}
    return [
        Change(
            LABELS[name],
            f"{value_text(name, in_force(row, name))} ({SOURCES[source_of(row, name)]})",
            f"{value_text(name, in_force(after, name))} ({SOURCES[source_of(after, name)]})",
            note_on(name, in_force(after, name), seen),
        )
        for name in read
    ]


def note_on(name: str, value: Any, seen: DeploymentRow) -> str:
    """What the next ticks will do with a new minimum or maximum, and how a new target measures the load of now."""
    have = seen.doing.coming
    if name in ("min_replicas", "max_replicas") and not seen.doing.known:
        return "How many replicas it has is not known now."
    if name == "min_replicas" and value > have:
        return f"It has {have}: the next tick adds {plural(value - have, 'replica')}."
    if name == "max_replicas" and value < have:
        return f"It has {have}: {plural(have - value, 'healthy replica')} go, the oldest first, one per tick."
    if name == "max_replicas" and seen.doing.bound == LimitCode.MAX_REPLICAS and value > seen.high:
        return f"The maximum holds it now: up to {plural(value - seen.high, 'more replica')} may be added."
    measure = {"target_latency_p95_ms": seen.latency, "target_rps": seen.per_replica}.get(name)
    if measure and measure.value is not None and value:
        return f"It is at {measure.value / value:.3g} times the new target now."
    return ""
