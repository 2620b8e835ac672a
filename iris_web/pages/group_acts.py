"""Acts on one group: drain and undo it, pause and resume it, edit its limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect

from iris_web.access import Act, require
from iris_web.pages import addresses, limits, words
from iris_web.pages.acts import (
    CONFLICT,
    REASON,
    SPANS,
    UNPROCESSABLE,
    ActPage,
    FormField,
    Input,
    actor_of,
    run,
    sentence,
    shown_version,
)
from iris_web.pages.group import crews_of, slice_code
from iris_web.pages.releases import Crew
from iris_web.pages.shell import render_page
from scaling import operations
from scaling.models import Group, Job, Slice, Task
from scaling.operations import LIMIT_FIELDS, OperationRefused, StaleVersion, read_group

JOBS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Hit:
    """One slice that a drain touches, and how."""

    slice: Slice
    code: str
    crew: Crew
    effect: str


def _group(name: str) -> Group:
    group = Group.objects.select_related("platform", "quota_pool").filter(name=name).first()
    if group is None:
        raise Http404(f"There is no group {name}.")
    return group


_EFFECTS = {
    "IDLE": "leaves once its idle window is over",
    "BUSY": "finishes its tasks, then leaves",
    "BOOTING": "boots, then leaves when idle",
    "REQUESTING": "was asked for already; leaves when idle",
    "DRAINING": "is leaving already",
    "TERMINATING": "is leaving already",
}


def hits(slices: Sequence[Slice]) -> list[Hit]:
    """What a drain does to each of these slices. Two queries."""
    crews = crews_of([row.pk for row in slices])
    return [Hit(row, slice_code(row), crews.get(row.pk, Crew()), _effect(row)) for row in slices]


def _effect(row: Slice) -> str:
    if row.state == Slice.State.REQUESTING and row.sent_at is None:
        return "is cancelled: it was not sent yet"
    return _EFFECTS.get(slice_code(row), "")


def jobs_on(slices: Sequence[Slice]) -> list[Job]:
    """Jobs with tasks on these slices now, the most tasks first; each has `here`, their number."""
    active = Task.objects.filter(state__in=Task.ACTIVE, worker__slice__in=slices)
    counts = dict(active.order_by().values_list("job").annotate(n=Count("pk")))
    found = list(Job.objects.filter(pk__in=counts).only("source", "job_id", "tier"))
    for job in found:
        job.here = counts[job.pk]  # type: ignore[attr-defined]
    return sorted(found, key=lambda job: (-counts[job.pk], job.job_id))


def drain(request: HttpRequest, name: str) -> HttpResponse:
    """Shows every slice and job it will hit; a group that works must be named to be drained."""

    def make() -> ActPage:
        group = _group(name)
        slices = list(Slice.objects.filter(group=group, state__in=Slice.LIVE).order_by("state", "name"))
        jobs = jobs_on(slices)
        busy = sum(slice_code(row) == "BUSY" for row in slices)
        tasks = sum(job.here for job in jobs)  # type: ignore[attr-defined]
        fields = [
            FormField(
                "deadline", "Deadline", Input.END, "When it comes, what is still busy ends and its tasks wait again.",
                spans=(("", "none: tasks may finish"), *SPANS),
            ),
            REASON,
        ]  # fmt: skip
        if busy:
            label = f"Type the group's name: {words.plural(busy, 'slice')} of it {'is' if busy == 1 else 'are'} in use"
            fields.append(FormField("confirm", label, Input.NAME, expected=name))
        return ActPage(
            act=Act.DRAIN,
            title=f"Drain {name}",
            button="Drain",
            back=addresses.group(name),
            done=f"{name} is draining.",
            undo=f"{addresses.group(name)}undrain/",
            perform=lambda actor, given: operations.drain_group(
                actor, name, given["reason"], given["deadline"], given["version"]
            ),
            nav="groups",
            subject=name,
            effects=(
                "It gets no new demand, and requests that were not sent are cancelled.",
                "Min and buffer no longer keep slices; each leaves when it was idle for the longer drain window.",
                "It can be undone until its last slice is gone.",
            ),
            fields=fields,
            danger=True,
            version=group.version,
            seen=[row.name for row in slices],
            template="acts/drain.html",
            context={"hits": hits(slices), "jobs": jobs[:JOBS_SHOWN], "more_jobs": max(0, len(jobs) - JOBS_SHOWN),
                     "job_count": len(jobs), "tasks": tasks},
        )  # fmt: skip

    return run(request, make, Act.DRAIN)


def undrain(request: HttpRequest, name: str) -> HttpResponse:
    def make() -> ActPage:
        group = _group(name)
        return ActPage(
            act=Act.DRAIN,
            title=f"End the drain of {name}",
            button="Undrain",
            back=addresses.group(name),
            done=f"{name} is in service again.",
            perform=lambda actor, given: operations.undrain_group(actor, name, given["reason"], given["version"]),
            nav="groups",
            subject=name,
            effects=("What is left of the group serves again and it may grow.", "Slices that have gone stay gone."),
            version=group.version,
        )

    return run(request, make, Act.DRAIN)


def pause(request: HttpRequest, name: str) -> HttpResponse:
    def make() -> ActPage:
        group = _group(name)
        return ActPage(
            act=Act.PAUSE,
            title=f"Pause {name}",
            button="Pause",
            back=addresses.group(name),
            done=f"{name} is paused.",
            undo=f"{addresses.group(name)}resume/",
            perform=lambda actor, given: operations.pause_group(
                actor, name, given["reason"], given["until"], given["version"]
            ),
            nav="groups",
            subject=name,
            effects=("It requests nothing new.", "What it has, and what is in flight, goes on serving."),
            fields=(
                FormField("until", "How long", Input.END, spans=(("", "until someone resumes it"), *SPANS)),
                REASON,
            ),
            version=group.version,
        )

    return run(request, make, Act.PAUSE)


def resume(request: HttpRequest, name: str) -> HttpResponse:
    def make() -> ActPage:
        group = _group(name)
        return ActPage(
            act=Act.PAUSE,
            title=f"Resume {name}",
            button="Resume",
            back=addresses.group(name),
            done=f"{name} is resumed.",
            perform=lambda actor, given: operations.resume_group(actor, name, given["reason"], given["version"]),
            nav="groups",
            subject=name,
            effects=("It may request slices again from the next cycle.",),
            version=group.version,
        )

    return run(request, make, Act.PAUSE)


def edit_limits(request: HttpRequest, name: str) -> HttpResponse:
    """Two steps: the form, then what would change, to be confirmed. Other people's edits are never overwritten."""
    require(request, Act.SET_LIMITS)
    group = _group(name)
    if request.method != "POST":
        return _limits_form(request, group, limits.written(group), {})
    given = {key: value.strip() for key, value in request.POST.dict().items()}
    changes = limits.changes(group, given)
    version = shown_version(given, group.version)
    if given.get("step") == "edit":
        return _limits_form(request, group, given, {}, version=version)
    if version != group.version:
        return _stale(request, name, given, f"{name} was changed by someone else while you edited it.")
    try:
        if given.get("step") == "save":
            operations.set_group_limits(actor_of(request), name, version, changes, given.get("reason", ""))
            messages.success(request, f"The limits of {name} are changed; the next cycle uses them.")
            return HttpResponseRedirect(addresses.group(name))
        read = read_group(changes, group)
    except StaleVersion as stale:
        return _stale(request, name, given, sentence(str(stale)))
    except OperationRefused as refused:
        faults = limits.faults(refused)
        return _limits_form(request, group, given, faults, status=UNPROCESSABLE)
    if not changes:
        return _limits_form(request, group, given, {"": "Nothing was changed yet."}, status=UNPROCESSABLE)
    context = {"group": group, "rows": limits.review(group, read), "given": given, "changes": changes, "names": changes}
    return render_page(request, "acts/limits_review.html", context, nav="groups")


def _stale(request: HttpRequest, name: str, given: Mapping[str, str], text: str) -> HttpResponse:
    """The form again: this person's words kept, the newer values beside them, the version moved on."""
    notice = f"{text} Nothing was saved. Your own changes are kept below; everything else is as it is now."
    group = _group(name)
    given = {**limits.merged(group, given), "base": limits.base(group)}
    return _limits_form(request, group, given, {}, notice=notice, status=CONFLICT)


def _limits_form(
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
