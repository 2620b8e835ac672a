"""`/groups/`: every group, what it holds and why it does not grow."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict

from iris_web.access import Act, Role, require
from iris_web.live.fragments import Context, Fragment, Params, register
from iris_web.pages import families, halts, states
from iris_web.pages.amounts import NO_SLICES, Amounts, SliceCounts, all_slice_counts, amounts, slice_counts
from iris_web.pages.capacity_heads import NO_ZONE
from iris_web.pages.lasting import Behind, behind, blocks_of
from iris_web.pages.names import holding, with_words_told
from iris_web.pages.shell import render_page
from iris_web.pages.url_params import Kind, PageState, Param
from scaling import clock
from scaling.autoscaler.waiting import NOBODY, Waiting
from scaling.models import Group

PAGE_SIZE = 100
SORTS = (
    ("name", "Group"),
    ("zone", "Zone"),
    ("outcome", "State"),
    ("held", "Slices"),
    ("max", "Limits"),
    ("assigned", "Demand"),
)
PARAMS = (
    Param("q", "Search"),
    Param(
        "outcome", "State", Kind.CHOICE,
        (("", "any"), ("blocked", "cannot grow"), *((code, look.word) for code, look in states.GROUP.items() if code),
         ("none", states.GROUP[""].word)),
    ),
    Param("family", "Family"),
    Param("zone", "Zone"),
    Param("platform", "Platform"),
    Param("pool", "Quota pool"),
    Param("sort", "Order", Kind.CHOICE, tuple((f"{sign}{key}", label) for key, label in SORTS for sign in ("", "-")),
          default="name", shown=False),
    Param("page", "Page", Kind.NUMBER, default="1", shown=False),
)  # fmt: skip
_COLUMNS = (
    "pk", "name", "zone", "device_type", "device_variant", "workers_per_slice", "capacity_type", "min_slices",
    "buffer_slices", "max_slices", "priority", "status__outcome", "status__assigned", "status__deficit",
    "status__quota_remaining", "status__stockout_until", "status__backoff_expires_at", "status__checks",
    "status__waiting_jobs", "status__waiting_tasks", "status__waiting_alone", "allocation_tier", "pause_until",
)  # fmt: skip


class Brief(NamedTuple):
    """What filtering and sorting need of a group; the rest is read for the rows of one page alone."""

    pk: int
    name: str
    zone: str
    device_type: str
    device_variant: str
    max_slices: int
    outcome: str | None
    assigned: int | None
    deficit: int | None
    waiting: int | None

    @property
    def family(self) -> str:
        return f"{self.device_type}:{families.family(self.device_type, self.device_variant)}"


_BRIEF = (*Brief._fields[:6], "status__outcome", "status__assigned", "status__deficit", "status__waiting_tasks")


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group as the list shows it; `facts` holds its columns by name, `held` is in slices, `outcome` as shown.

    `behind` outlasts the outcome, `waiting` is the demand that it blocks.
    """

    facts: dict[str, Any]
    amounts: Amounts
    outcome: str
    behind: Behind
    waiting: Waiting

    @property
    def name(self) -> str:
        return str(self.facts["name"])

    @property
    def assigned(self) -> int:
        return self.facts["status__assigned"] or 0

    @property
    def deficit(self) -> int:
        return self.facts["status__deficit"] or 0

    @property
    def until(self) -> datetime | None:
        """When the outcome ends by itself, where that is known."""
        column = {"STOCKOUT": "status__stockout_until", "BACKOFF": "status__backoff_expires_at",
                  "PAUSED": "pause_until"}.get(self.outcome)  # fmt: skip
        return self.facts[column] if column else None


@lru_cache(10_000)
def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """`v5p-8` before `v5p-64`: runs of digits count as numbers."""
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts)


_OUTCOME_ORDER = {code: number for number, code in enumerate(states.GROUP)}
_Counts = Mapping[int, SliceCounts]
_ORDERS: dict[str, Callable[[Brief, _Counts], Any]] = {
    "name": lambda row, _: natural(row.name),
    "zone": lambda row, _: (row.zone, natural(row.name)),
    "outcome": lambda row, _: _OUTCOME_ORDER.get(row.outcome or "", -1),
    "held": lambda row, counts: sum(counts.get(row.pk, NO_SLICES)),
    "max": lambda row, _: row.max_slices,
    "assigned": lambda row, _: ((row.assigned or 0) + (row.waiting or 0), row.deficit or 0),
}


def view(request: HttpRequest) -> HttpResponse:
    require(request, Act.VIEW)
    state = with_words_told(PageState.read(PARAMS, request.GET))
    places = Group.objects.order_by().values_list("zone", "device_type", "device_variant", "platform__name").distinct()
    found = list(places)
    kinds = {(kind, families.family(kind, variant)) for _, kind, variant, _ in found}
    choices = {
        "zones": sorted({zone for zone, *_ in found}),
        "families": [(f"{k}:{n}", families.label(k, n)) for k, n in sorted(kinds, key=lambda kn: families.order(*kn))],
        "platforms": sorted({platform for *_, platform in found}),
    }
    return render_page(request, "pages/groups.html", {"state": state, **choices}, nav="groups")


def listing(params: Params, _role: Role) -> Context:
    """The rows that these filters leave, one page of them. Three queries."""
    state = PageState.read(PARAMS, QueryDict(params.get("query", "")))
    order, descending = state["sort"].lstrip("-"), state["sort"].startswith("-")
    counts: _Counts = all_slice_counts() if order == "held" else {}
    found = [Brief(*row) for row in _chosen(state).values_list(*_BRIEF)]
    if state["family"]:
        found = [row for row in found if row.family == state["family"]]
    found.sort(key=lambda row: _ORDERS[order](row, counts), reverse=descending)
    page, beyond = state.page_of(len(found), PAGE_SIZE)
    first = (page - 1) * PAGE_SIZE
    rows = _rows([row.pk for row in found[first : first + PAGE_SIZE]], counts)
    return {
        "state": state,
        "rows": rows,
        "total": len(found),
        "beyond": beyond,
        "first": first + 1,
        "last": first + len(rows),
        "previous": state.address(page=str(page - 1)) if page > 1 else "",
        "next": state.address(page=str(page + 1)) if first + PAGE_SIZE < len(found) else "",
        "heads": [_head(state, key, label) for key, label in SORTS],
        "none_at_all": not found and not state.filtered,
    }


def _rows(pks: list[int], counts: _Counts) -> list[GroupRow]:
    """The rows of one page, in this order."""
    known = counts or slice_counts(pks)
    facts = {row["pk"]: row for row in Group.objects.filter(pk__in=pks).values(*_COLUMNS)}
    now = clock.now()
    standstill = halts.Standstill(now)
    return [_row(facts[pk], known.get(pk, NO_SLICES), standstill, now) for pk in pks if pk in facts]


def _row(facts: dict[str, Any], counts: SliceCounts, standstill: halts.Standstill, now: datetime) -> GroupRow:
    outcome = standstill.code(facts["pk"], facts["status__outcome"])
    blocked = outcome not in ("AVAILABLE", "")
    held = amounts(counts, 1, facts["min_slices"], facts["max_slices"], blocked)
    after = behind(blocks_of(facts["status__checks"]), facts["allocation_tier"], now)
    waiting = Waiting(*(facts[f"status__waiting_{name}"] for name in Waiting._fields)) if blocked else NOBODY
    return GroupRow(facts, held, outcome, after, waiting)


def _chosen(state: PageState) -> QuerySet[Group]:
    groups = Group.objects.order_by("name")
    if state["q"]:
        groups = groups.filter(holding(state["q"], "name", "device_variant"))
    if state["outcome"] == "blocked":
        groups = groups.filter(status__isnull=False).exclude(status__outcome="AVAILABLE")
    elif state["outcome"] == "none":
        groups = groups.filter(status__isnull=True)
    elif state["outcome"]:
        groups = halts.with_code(groups, state["outcome"], clock.now())
    if state["zone"]:
        groups = groups.filter(zone="" if state["zone"] == NO_ZONE else state["zone"])
    if state["platform"]:
        groups = groups.filter(platform__name=state["platform"])
    if state["pool"]:
        groups = groups.filter(quota_pool__name=state["pool"])
    if state["family"]:
        groups = groups.filter(device_type=state["family"].partition(":")[0])
    return groups


@dataclass(frozen=True, slots=True)
class Head:
    """A column's head: the address that sorts by it, and how it is sorted now (the word of `aria-sort`)."""

    label: str
    address: str
    sorted: str


def _head(state: PageState, key: str, label: str) -> Head:
    now = {"": key, "-": f"-{key}"}
    ascending, descending = state["sort"] == now[""], state["sort"] == now["-"]
    numeric = key in ("held", "max", "assigned")
    following = now[""] if descending else now["-"] if ascending else now["-" if numeric else ""]
    return Head(
        label, state.address(sort=following, page=""), "ascending" if ascending else "descending" if descending else ""
    )


register(
    Fragment("groups.list", "partials/group_rows.html", listing, {"groups", "slices", "cycle"}, frozenset({"query"})),
)
