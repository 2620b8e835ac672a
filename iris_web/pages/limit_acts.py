"""Edit a group's limits, in two steps: the form, then what would change and what the next cycle does with it.

The review does not wait for the planner: its answer is loaded into it (step `preview`), or shown with it (`planned`).
"""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from iris_web.access import Act, require
from iris_web.pages import act_previews, addresses, limits
from iris_web.pages.act_done import done_text, undo_address
from iris_web.pages.act_fields import sentence, shown_version
from iris_web.pages.acts import CONFLICT, UNPROCESSABLE, actor_of
from iris_web.pages.group_acts import find_group
from iris_web.pages.shell import render_page
from scaling import clock, operations
from scaling.models import Group
from scaling.operations import LIMIT_FIELDS, OperationRefused, StaleVersion, read_limits
from scaling.operations.changes import called, last_change_of
from scaling.previews import NOT_DONE, Preview, asked, looking
from scaling.previews import changes as planned
from scaling.previews.scopes import more_than_shown


def edit_limits(request: HttpRequest, name: str) -> HttpResponse:
    """The form, its review, the save. Other people's edits are never overwritten."""
    require(request, Act.SET_LIMITS)
    group = find_group(name)
    if request.method != "POST":
        return _form(request, group, limits.written(group), {})
    given = act_previews.sent(request)
    version = shown_version(given, group.version)
    if given.get("step") == "edit":
        return _form(request, group, given, {}, version=version)
    if version != group.version:
        last = last_change_of(group) or "someone else changed it"
        return _stale(request, name, given, sentence(f"{called(group)} has changed since you opened it: {last}"))
    try:
        return _review_or_save(request, group, given, version)
    except StaleVersion as stale:
        return _stale(request, name, given, sentence(str(stale)))
    except OperationRefused as refused:
        return _form(request, group, given, limits.faults(refused), status=UNPROCESSABLE)


def _review_or_save(request: HttpRequest, group: Group, given: Mapping[str, str], version: int) -> HttpResponse:
    changes = limits.changes(group, given)
    read = read_limits(changes, group)
    if not changes:
        return _form(request, group, given, {"": "Nothing was changed yet."}, status=UNPROCESSABLE)
    change, step = planned.limits(group.name, read), given.get("step", "")
    if step in ("preview", "planned"):
        with looking():
            effect = asked(change)
        if effect is None:
            return _review(request, group, given, read, None, NOT_DONE, act_previews.UNAVAILABLE)
        return act_previews.part(request, effect) if step == "preview" else _review(request, group, given, read, effect)
    if step != "save":
        return _review(request, group, given, read, None)
    effect = asked(change)
    if effect is None:
        return _review(request, group, given, read, None, NOT_DONE, act_previews.UNAVAILABLE)
    newer = more_than_shown(effect.scope, given["seen"].split()) if "seen" in given else ""
    if newer:
        again = f"It would now do more than you were shown: {newer}. Nothing was saved; look again."
        return _review(request, group, given, read, effect, again)
    return _save(request, group.name, version, changes, given.get("reason", ""))


def _review(
    request: HttpRequest,
    group: Group,
    given: Mapping[str, str],
    read: Mapping[str, Any],
    effect: Preview | None,
    notice: str = "",
    status: int = CONFLICT,
) -> HttpResponse:
    """What would change. Without `effect` the planner is asked for it once the page is shown."""
    context = {
        "group": group,
        "rows": limits.review(group, read),
        "given": {name: value for name, value in given.items() if name not in ("seen", "step", "csrfmiddlewaretoken")},
        "preview": effect,
        "waits": effect is None,
        "seen": " ".join(effect.scope) if effect else "",
        "notice": notice,
    }
    return render_page(request, "acts/limits_review.html", context, nav="groups", status=status if notice else 200)


def _save(request: HttpRequest, name: str, version: int, changes: Mapping[str, Any], reason: str) -> HttpResponse:
    actor, began = actor_of(request), clock.now()
    operations.set_group_limits(actor, name, version, changes, reason)
    done = f"The limits of {name} are changed; the next cycle uses them."
    messages.success(request, done_text(done, undo_address(actor, began)))
    return HttpResponseRedirect(addresses.group(name))


def _stale(request: HttpRequest, name: str, given: Mapping[str, str], text: str) -> HttpResponse:
    """The form again: this person's words kept, the newer values beside them, the version moved on."""
    notice = f"{text} Nothing was saved. Your own changes are kept below; everything else is as it is now."
    group = find_group(name)
    given = {**limits.merged(group, given), "base": limits.base(group)}
    return _form(request, group, given, {}, notice=notice, status=CONFLICT)


def _form(
    request: HttpRequest,
    group: Group,
    given: Mapping[str, str],
    faults: Mapping[str, str],
    *,
    version: int | None = None,
    notice: str = "",
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = {
        "group": group,
        "version": group.version if version is None else version,
        "sections": limits.sections(group, given, faults),
        "problem": faults.get("", ""),
        "notice": notice,
        "reason": given.get("reason", ""),
        "base": given.get("base") or limits.base(group),
        "field_count": len(LIMIT_FIELDS),
    }
    return render_page(request, "acts/limits.html", context, nav="groups", status=status)
