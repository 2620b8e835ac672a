"""Acts on one group: drain and undo it, pause and resume it."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse

from iris_web.access import Act
from iris_web.pages import addresses, words
from iris_web.pages.act_fields import REASON, SPANS, FormField, Input
from iris_web.pages.acts import ActPage, run
from iris_web.pages.group import crews_of, slice_code
from iris_web.pages.releases import Crew
from scaling import clock, operations
from scaling.models import Group, Job, Slice, Task
from scaling.previews import changes

JOBS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Hit:
    """One slice that a drain touches, and how."""

    slice: Slice
    code: str
    crew: Crew
    effect: str


def find_group(name: str) -> Group:
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
        group = find_group(name)
        slices = list(Slice.objects.filter(group=group, state__in=Slice.LIVE).order_by("state", "name"))
        jobs = jobs_on(slices)
        busy = sum(slice_code(row) == "BUSY" for row in slices)
        tasks = sum(job.here for job in jobs)  # type: ignore[attr-defined]
        fields = [
            FormField(
                "deadline", "Deadline", Input.AT, "When it comes, what is still busy ends and its tasks wait again.",
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
            seen_if={"deadline": [quote(f"{job.source}:{job.job_id}", safe=":") for job in jobs]},
            change=changes.drained(name, clock.now()),
            stops=True,
            instead=("End its drain", f"{addresses.group(name)}undrain/") if group.drain_since else None,
            template="acts/drain.html",
            context={"hits": hits(slices), "jobs": jobs[:JOBS_SHOWN], "more_jobs": max(0, len(jobs) - JOBS_SHOWN),
                     "job_count": len(jobs), "tasks": tasks},
        )  # fmt: skip

    return run(request, make, Act.DRAIN)


def undrain(request: HttpRequest, name: str) -> HttpResponse:
    def make() -> ActPage:
        group = find_group(name)
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
            change=changes.undrained(name),
            serves=True,
            instead=None if group.drain_since else ("Drain", f"{addresses.group(name)}drain/"),
        )

    return run(request, make, Act.DRAIN)


def _is_paused(group: Group) -> bool:
    return operations.is_paused(group, clock.now())


def pause(request: HttpRequest, name: str) -> HttpResponse:
    def make() -> ActPage:
        group = find_group(name)
        return ActPage(
            act=Act.PAUSE,
            title=f"Pause {name}",
            button="Pause",
            back=addresses.group(name),
            done=f"{name} is paused.",
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
            change=changes.paused(name, clock.now()),
            stops=True,
            instead=("Resume", f"{addresses.group(name)}resume/") if _is_paused(group) else None,
        )

    return run(request, make, Act.PAUSE)


def resume(request: HttpRequest, name: str) -> HttpResponse:
    def make() -> ActPage:
        group = find_group(name)
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
            change=changes.resumed(name),
            serves=True,
            instead=None if _is_paused(group) else ("Pause", f"{addresses.group(name)}pause/"),
        )

    return run(request, make, Act.PAUSE)
