"""The limits of several groups in one go: what is written goes for all of them, what is left empty stays as it is.

Reviewed by the planner as one change, and saved as one: where one group refuses, none is changed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from scaling import limit_notes, operations
from scaling.admin.base import OperatedAdmin, actor_of, named
from scaling.admin.chosen import folded
from scaling.admin.reviewed import Changed, rows_of
from scaling.models import Group
from scaling.operations import LIMIT_FIELDS, OperationError, OperationRefused, read_limits
from scaling.operations.edit_locks import lock_for_edits
from scaling.operations.labels import LIMIT_LABELS
from scaling.operations.written import changed, limits_of
from scaling.previews import NOT_DONE, Preview, asked, changes
from scaling.previews.scopes import more_than_shown

CONFLICT, UNPROCESSABLE, UNAVAILABLE = 409, 422, 503
# What goes for several groups alike; the labels of a group are its own.
FIELDS = tuple(name for name in LIMIT_FIELDS if name != "attributes")
# Written where a field is to be emptied, since an empty one stays as it is.
NONE = "none"


def edit(site: OperatedAdmin[Group], request: HttpRequest, rows: QuerySet[Group]) -> HttpResponse:
    """The form, its review, the save."""
    groups = list(rows.order_by("name"))
    given = {name: request.POST.get(name, "").strip() for name in (*FIELDS, "reason")}
    step = request.POST.get("step", "")
    if step not in ("review", "save"):
        return _form(site, request, groups, given)
    try:
        edits = _edits(groups, given)
    except OperationRefused as refused:
        return _form(site, request, groups, given, refused)
    effect = asked(changes.together(*(changes.limits(one.name, read) for one, _, read in edits)))
    if effect is None:
        return _form(site, request, groups, given, OperationRefused(NOT_DONE), UNAVAILABLE)
    newer = more_than_shown(effect.scope, request.POST.get("seen", "").split()) if step == "save" else ""
    if step == "review" or newer:
        return _review(site, request, edits, given, effect, newer)
    return _save(site, request, edits, given)


_Edit = tuple[Group, dict[str, Any], Mapping[str, Any]]


def _edits(groups: Sequence[Group], given: Mapping[str, str]) -> list[_Edit]:
    """(group, what changes, as read) for each that changes; raises OperationRefused naming the group and the field."""
    found: list[_Edit] = []
    for group in groups:
        change = changed(LIMIT_FIELDS, limits_of(group), _written(given))
        try:
            read = read_limits(change, group)
        except OperationRefused as refused:
            fault = refused.faults[0]
            raise OperationRefused(f"{group.name}: {fault.message}", fault.path) from None
        if change:
            found.append((group, change, read))
    if not found:
        raise OperationRefused("nothing to change: write into at least one field what is not stored already")
    return found


def _written(given: Mapping[str, str]) -> dict[str, str]:
    texts = {name: given[name] for name in FIELDS if given[name]}
    return {name: "" if text.lower() == NONE else text for name, text in texts.items()}


def _save(
    site: OperatedAdmin[Group], request: HttpRequest, edits: Sequence[_Edit], given: Mapping[str, str]
) -> HttpResponse:
    try:
        with transaction.atomic():
            lock_for_edits([(group, read) for group, _, read in edits])
            for group, change, _read in edits:
                version = _version(request, group)
                operations.set_group_limits(actor_of(request), group.name, version, change, given["reason"])
    except OperationError as refused:
        messages.error(request, f"No group was changed: {refused}")
    else:
        names = [group.name for group, _, _ in edits]
        messages.success(request, f"The limits of {named(names)} are changed; the next cycle uses them.")
    return HttpResponseRedirect(reverse(f"admin:{site.opts.app_label}_{site.opts.model_name}_changelist"))


def _version(request: HttpRequest, group: Group) -> int:
    text = request.POST.get(f"version_{group.pk}", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else group.version


def _review(
    site: OperatedAdmin[Group],
    request: HttpRequest,
    edits: Sequence[_Edit],
    given: Mapping[str, str],
    effect: Preview,
    newer: str,
) -> HttpResponse:
    rows: list[Changed] = []
    for group, change, read in edits:
        stored, notes = limits_of(group), limit_notes.of_group(group, read)
        after = {name: text for name, text in _written(given).items() if name in change}
        rows += rows_of(LIMIT_LABELS, stored, after, group.name, notes)
    again = f"It would now do more than you were shown: {newer}. Nothing was saved; look again." if newer else ""
    context = {
        **_context(site, request, [group for group, _, _ in edits], given),
        "title": f"Change {len(edits)} group{'s' if len(edits) > 1 else ''}?",
        "rows": rows,
        "preview": effect,
        "seen": " ".join(effect.scope),
        "notice": again,
    }
    return TemplateResponse(request, "admin/scaling/group/bulk_review.html", context, status=CONFLICT if newer else 200)


def _form(
    site: OperatedAdmin[Group],
    request: HttpRequest,
    groups: Sequence[Group],
    given: Mapping[str, str],
    refused: OperationRefused | None = None,
    status: int = UNPROCESSABLE,
) -> HttpResponse:
    stored = [limits_of(group) for group in groups]
    fault = refused.faults[0] if refused else None
    fields = [
        {
            "name": name,
            "label": LIMIT_LABELS[name],
            "help": LIMIT_FIELDS[name].doc.replace("null", "none"),
            "value": given[name],
            "now": _now([one[name] or NONE for one in stored]),
            "wrong": fault.message if fault and fault.path == name else "",
        }
        for name in FIELDS
    ]
    context = {
        **_context(site, request, groups, given),
        "title": f"Limits of {len(groups)} group{'s' if len(groups) > 1 else ''}",
        "fields": fields,
        "notice": str(fault) if fault and fault.path not in FIELDS else "",
    }
    return TemplateResponse(request, "admin/scaling/group/bulk.html", context, status=status if refused else 200)


def _now(values: Sequence[str]) -> str:
    """What the groups have now, the most common first."""
    found = sorted(set(values), key=lambda value: (-values.count(value), value))
    return ", ".join(found[:4]) + (" and others" if len(found) > 4 else "")


def _context(
    site: OperatedAdmin[Group], request: HttpRequest, groups: Sequence[Group], given: Mapping[str, str]
) -> dict[str, Any]:
    return {
        **site.admin_site.each_context(request),
        "groups": groups,
        "given": given,
        "chosen": folded(groups),
        "opts": site.opts,
    }
