"""Orders for several groups at once: a page that shows what they hit and what the next cycle does, then the orders.

Each group is ordered by itself with an Action of its own; one that is refused does not stop the rest.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from scaling import clock, operations
from scaling.admin.base import OperatedAdmin
from scaling.admin.chosen import folded
from scaling.history import Actor
from scaling.models import Group, Slice
from scaling.operations import OperationRefused
from scaling.operations.acts import read_act
from scaling.operations.telling import capital
from scaling.previews import NO_ANSWER, NOT_DONE, asked, changes
from scaling.previews.scopes import more_than_shown

CONFLICT, UNPROCESSABLE, UNAVAILABLE = 409, 422, 503


@dataclass(frozen=True, slots=True)
class Order:
    """An order: its word in the admin, its operation and change, and the input for its end, where it has one.

    `do(actor, group, reason, end, version)`. `empties`: what runs is driven out, so that names are asked for.
    `serves`: it lets groups serve again, so that it is held to what it releases alone (see `scopes`).
    """

    name: str
    title: str
    done: str
    do: Callable[[Actor, Group, str, Any, int | None], object]
    change: Callable[[str, datetime], changes.Change]
    end: str = ""
    end_label: str = ""
    empties: bool = False
    serves: bool = False


DRAIN = Order(
    "drain", "Drain", "Draining",
    lambda by, group, why, end, version: operations.drain_group(by, group.name, why, end, version),
    lambda name, now: changes.drained(name, now),
    end="deadline", end_label="Deadline: then what is still busy ends (UTC; empty = tasks may finish)", empties=True,
)  # fmt: skip
UNDRAIN = Order(
    "undrain", "Undrain", "In service again",
    lambda by, group, why, _end, version: operations.undrain_group(by, group.name, why, version),
    lambda name, _now: changes.undrained(name), serves=True,
)  # fmt: skip
PAUSE = Order(
    "pause", "Pause", "Paused",
    lambda by, group, why, end, version: operations.pause_group(by, group.name, why, end, version),
    lambda name, now: changes.paused(name, now),
    end="until", end_label="Until (UTC; empty = until someone resumes them)",
)  # fmt: skip
RESUME = Order(
    "resume", "Resume", "Resumed",
    lambda by, group, why, _end, version: operations.resume_group(by, group.name, why, version),
    lambda name, _now: changes.resumed(name), serves=True,
)  # fmt: skip


def give(site: OperatedAdmin[Group], request: HttpRequest, rows: QuerySet[Group], order: Order) -> HttpResponse:
    """Show what would be hit; with `confirm`, do it, group by group, unless it would hit more than was shown."""
    groups = _groups(rows)
    effect = asked(changes.together(*(order.change(one.name, clock.now()) for one in groups)))
    scope = [*(effect.scope if effect else ()), *(_slices(groups) if order.empties else ())]
    typed = _typed(order, groups)
    page = {
        "groups": groups,
        "preview": effect,
        "order": order,
        "seen": " ".join(scope),
        "typed": typed,
    }
    given = {name: request.POST.get(name, "").strip() for name in ("reason", "end", "name", "seen")}
    if not request.POST.get("confirm"):
        return _page(site, request, page, given, "" if effect else _unplanned(order))
    if effect is None and order.serves:
        return _page(site, request, page, given, NOT_DONE, UNAVAILABLE)
    hit = effect.losses if effect and order.serves else scope
    newer = more_than_shown(hit, given["seen"].split()) if "seen" in request.POST else ""
    if newer:
        notice = f"It would now hit more than you were shown: {newer}. Nothing was done; look again."
        return _page(site, request, page, given, notice, CONFLICT)
    try:
        read = _read(order, given, typed)
    except OperationRefused as refused:
        return _page(site, request, page, given, str(refused), UNPROCESSABLE)

    def on_one(actor: Actor, group: Group) -> object:
        return order.do(actor, group, given["reason"], read, _version(request, group))

    return site.run_on_each(request, groups, on_one, order.done)


def _unplanned(order: Order) -> str:
    return NO_ANSWER if order.serves else f"{NO_ANSWER} It can be done all the same."


def _groups(rows: QuerySet[Group]) -> list[Any]:
    live = Q(slices__state__in=Slice.LIVE)
    busy = Q(slices__state=Slice.State.READY, slices__idle_since__isnull=True)
    return list(
        rows.annotate(slices_held=Count("slices", filter=live), busy=Count("slices", filter=busy)).order_by("name")
    )


def _slices(groups: Sequence[Group]) -> list[str]:
    names = Slice.objects.filter(group__in=groups, state__in=Slice.LIVE).order_by("name")
    return list(names.values_list("name", flat=True))


def _typed(order: Order, groups: Sequence[Any]) -> str:
    """What must be typed to be sure: the name of a busy group, or how many groups there are; "" where none is busy."""
    if not order.empties or not any(group.busy for group in groups):
        return ""
    return groups[0].name if len(groups) == 1 else f"{len(groups)} groups"


def _read(order: Order, given: dict[str, str], typed: str) -> Any:
    """When it ends; raises OperationRefused for what can't be meant."""
    if typed and given["name"] != typed:
        raise OperationRefused(f"expected {typed} to be typed, to be sure")
    read_act(reason=given["reason"])
    return read_act(**{order.end: given["end"] or None})[order.end] if order.end else None


def _version(request: HttpRequest, group: Group) -> int | None:
    text = request.POST.get(f"version_{group.pk}", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _page(
    site: OperatedAdmin[Group],
    request: HttpRequest,
    page: dict[str, Any],
    given: dict[str, str],
    notice: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {
        **site.admin_site.each_context(request),
        **page,
        "title": f"{page['order'].title} these groups?",
        "given": given,
        "notice": capital(notice),
        "chosen": folded(page["groups"]),
        "opts": site.opts,
    }
    return TemplateResponse(request, "admin/scaling/group/confirm.html", context, status=status)
