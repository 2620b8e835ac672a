"""`/search/`: where is what I have the name of? Groups, jobs, deployments and slices by name, actions by id or target.

Every look is bounded: names are looked through where there are thousands of them; of what comes in millions (actions,
slices) only what an index finds is asked for, an id or a name as a whole; of slices that live also the last part of a
name, as lists print it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from django.db.models import Case, IntegerField, Model, Q, QuerySet, Value, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode

from iris_web.access import Act, require
from iris_web.pages import addresses
from iris_web.pages.action_rows import action_row
from iris_web.pages.halts import Standstill
from iris_web.pages.names import holding, with_words_told
from iris_web.pages.shell import PAGES, render_page
from iris_web.pages.url_params import PageState, Param
from scaling import clock
from scaling.models import Action, Deployment, Group, Job, QuotaPool, Slice

SHOWN = 8
ACTIONS_SHOWN = 5
# Letters from which on names are looked through; a single one is in nearly all of them.
LEAST = 2
# Letters from which on slices are looked for by the last part of their name.
LEAST_OF_AN_END = 4
M = TypeVar("M", bound=Model)
# `part` asks for the results alone.
PARAMS = (Param("q", "Search"), Param("part", "Part", shown=False))
# The largest id that a database can hold.
_MAX_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that was found. `kind` and `code` name its state in `states`, `detail` says what tells it apart."""

    name: str
    url: str
    kind: str = ""
    code: str = ""
    detail: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """Hits of one sort, at most `most`; `more` leads to the list that has all of them."""

    title: str
    icon: str
    hits: list[Hit]
    more: str = ""
    most: int = SHOWN

    @property
    def is_cut(self) -> bool:
        """Whether there may be more than these."""
        return len(self.hits) >= self.most


@dataclass(frozen=True, slots=True)
class Found:
    text: str
    sections: list[Section] = field(default_factory=list)

    @property
    def number(self) -> int:
        return sum(len(section.hits) for section in self.sections)

    @property
    def is_cut(self) -> bool:
        return any(section.is_cut for section in self.sections)


def view(request: HttpRequest) -> HttpResponse:
    """The page, or with `part` its results alone, for the dialog."""
    require(request, Act.VIEW)
    state = with_words_told(PageState.read(PARAMS, request.GET))
    context = {"state": state, "found": find(state["q"]), "least": LEAST}
    if state["part"]:
        return render(request, "partials/search_results.html", context)
    return render_page(request, "pages/search.html", context, nav="search")


def find(text: str) -> Found:
    """What is called so, exact names first. At most thirteen queries, each bounded."""
    text = text.strip()
    if not text:
        return Found("")
    looks: tuple[Callable[[str], Section], ...] = (_pages, _groups, _pools, _jobs, _deployments, _slices, _actions)
    return Found(text, [section for look in looks if (section := look(text)).hits])


def _pages(text: str) -> Section:
    hits = [Hit(page.label, page.url, detail=f"g {page.shortcut}") for page in PAGES if _begins(page.label, text)]
    return Section("Pages", "overview", hits)


def _begins(label: str, text: str) -> bool:
    return label.casefold().startswith(text.casefold())


def _named(rows: QuerySet[M], column: str, text: str, *others: str) -> QuerySet[M]:
    """Rows whose name has all words of the text (LEAST letters at least; else what is called so), the nearest first."""
    if len(text) < LEAST:
        return rows.filter(**{column: text})
    near = Case(
        When(**{f"{column}__iexact": text}, then=Value(0)),
        When(**{f"{column}__istartswith": text}, then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    return rows.filter(holding(text, column, *others)).order_by(near, column)


def _groups(text: str) -> Section:
    rows = _named(Group.objects.all(), "name", text, "device_variant")
    standstill = Standstill(clock.now())
    hits = [
        Hit(name, addresses.group(name), "group", standstill.code(pk, outcome), zone)
        for pk, name, zone, outcome in rows.values_list("pk", "name", "zone", "status__outcome")[:SHOWN]
    ]
    return Section("Groups", "groups", hits, _more("/groups/", text, hits))


def _pools(text: str) -> Section:
    """Quota pools lead to the groups that they pay for."""
    found = _named(QuotaPool.objects.all(), "name", text).values_list("name", flat=True)
    hits = [Hit(name, f"/groups/?{urlencode({'pool': name})}", detail="its groups") for name in found[:SHOWN]]
    return Section("Quota pools", "gauge", hits)


def _jobs(text: str) -> Section:
    """What is called exactly so, then what waits, what runs, what ended; the newest first.

    `source:job` finds one job as pages write it.
    """
    source, colon, rest = text.partition(":")
    rows = Job.objects.filter(source=source) if colon else Job.objects.all()
    name = rest.strip() if colon else text
    found = _named(rows, "job_id", name).order_by(_standing(name), "-submitted_at", "-pk")
    hits = [Hit(id_, addresses.job(f"{of}:{id_}"), "job", state, f"{of} · {tier}")
            for of, id_, state, tier in found.values_list("source", "job_id", "state", "tier")[:SHOWN]]  # fmt: skip
    only = {"source": source} if colon else {}
    return Section("Jobs", "demand", hits, _more("/demand/", name, hits, **only, state="all"))


def _standing(name: str) -> Case:
    unfinished = Q(state__in=(Job.State.PENDING, Job.State.RUNNING))
    ranks = (Q(job_id__iexact=name), unfinished & Q(pending_tasks__gt=0), unfinished)
    whens = (When(asked, then=Value(rank)) for rank, asked in enumerate(ranks))
    return Case(*whens, default=Value(len(ranks)), output_field=IntegerField())


def _deployments(text: str) -> Section:
    rows = _named(Deployment.objects.filter(gone_at=None), "deployment_id", text, "name")
    hits = [
        Hit(name or id_, addresses.deployment(id_), detail=id_ if name and name != id_ else "")
        for id_, name in rows.values_list("deployment_id", "name")[:SHOWN]
    ]
    return Section("Deployments", "deployments", hits, _more("/deployments/", text, hits))


def _slices(text: str) -> Section:
    """By the whole name, else those that live by the end of it: `…-2139c733`, with or without what stands before."""
    columns = ("name", "state", "group__name")
    found = list(Slice.objects.filter(name=text).values_list(*columns))
    end = text.lstrip(".…-")
    if not found and len(end) >= LEAST_OF_AN_END:
        live = Slice.objects.filter(ended_at=None, state__in=Slice.LIVE, name__endswith=f"-{end}")
        found = list(live.order_by("name").values_list(*columns)[:SHOWN])
    hits = [Hit(name, addresses.slice_(name), "slice", state, group or "") for name, state, group in found]
    return Section("Slices", "disc", hits)


def _actions(text: str) -> Section:
    hits = [_action_hit(row) for row in _actions_of(text)]
    return Section("Actions", "actions", hits, f"/actions/?{urlencode({'q': text})}" if hits else "", ACTIONS_SHOWN)


def _actions_of(text: str) -> list[Action]:
    """The action of an id, and the newest on or by exactly what the text names. Six queries, each by an index."""
    number = text.removeprefix("#")
    found = {}
    if number.isascii() and number.isdigit() and int(number) <= _MAX_ID:
        found = {row.pk: row for row in _light(Q(pk=int(number)))}
    newest: dict[int, Action] = {}
    for column in ("group", "slice", "job", "target", "actor"):
        newest |= {row.pk: row for row in _light(Q(**{column: text}))}
    return [*found.values(), *(newest[pk] for pk in sorted(newest, reverse=True)[:ACTIONS_SHOWN] if pk not in found)]


def _light(asked: Q) -> Iterator[Action]:
    return iter(Action.objects.filter(asked).defer("before", "after").order_by("-id")[:ACTIONS_SHOWN])


def _action_hit(action: Action) -> Hit:
    row = action_row(action)
    on = action.slice or action.group or action.job or row.target
    return Hit(f"#{action.pk} {row.title}", row.url, "action", action.outcome, on, action.at)


def _more(path: str, text: str, hits: list[Hit], **more: str) -> str:
    return f"{path}?{urlencode({'q': text, **more})}" if len(hits) == SHOWN else ""
