"""`/deployments/<id>/`: is it keeping its latency, and why did it (not) scale?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, QueryDict

from iris_web.access import Act, Role, require
from iris_web.live.fragments import Context, Fragment, ListFragment, Params, Row, register
from iris_web.live.times import duration_text
from iris_web.pages import addresses, deployment_charts, keyset, words
from iris_web.pages.action_rows import action_row, action_rows, new_actions
from iris_web.pages.deployment_lint import findings
from iris_web.pages.deployment_rows import DeploymentRow, stale_after_seconds
from iris_web.pages.deployment_settings import setting_rows
from iris_web.pages.deployment_states import doing_of
from iris_web.pages.deployment_story import amount, tell
from iris_web.pages.shell import render_page
from iris_web.pages.url_params import Kind, PageState, Param
from scaling import clock
from scaling.feed import FeedEvent
from scaling.models import Action, CrashedReplica, Deployment, ReplicaDecision
from scaling.replica_rows import StoredReplica, stored
from scaling.scalers import REMEDY

PARAMS = (
    deployment_charts.RANGES.param,
    Param("after", "Place", Kind.CURSOR, shown=False),
    Param("before", "Place", Kind.CURSOR, shown=False),
)
DECISIONS_SHOWN = 20
ACTIONS_SHOWN = 15
REPLICAS_SHOWN = 200
_NEWEST_FIRST = (keyset.Key("id", True),)
_IS_PLACE = keyset.reads(ReplicaDecision, _NEWEST_FIRST)
# What ails comes first, then what comes, then what serves.
_CLASS_ORDER = {name: number for number, name in enumerate(("failed", "unhealthy", "warming", "draining", "healthy"))}


def view(request: HttpRequest, deployment_id: str) -> HttpResponse:
    require(request, Act.VIEW)
    row, now = find(deployment_id), clock.now()
    state = PageState.read(PARAMS, request.GET).placed(_IS_PLACE)
    seen = DeploymentRow(row, doing_of(row, now), now)
    context = {
        "id": row.deployment_id,
        "name": row.name,
        "state": state,
        "ranges": deployment_charts.RANGES.choices(state, "after", "before"),
        "charts": deployment_charts.CHARTS,
        "series": f"{addresses.deployment(row)}series?range={state['range']}",
        "ticked_at": seen.ticked_at,
        "values": _values(seen),
    }
    return render_page(request, "pages/deployment.html", context, nav="deployments")


def _values(seen: DeploymentRow) -> list[tuple[str, str, str]]:
    """(what, its latest value, its target) of what the charts draw, for those whose browser draws nothing."""
    latency, per_replica = seen.latency, seen.per_replica
    known = seen.doing.known
    return [
        ("p95 latency", _told(latency.value, " ms"), _told(latency.target, " ms")),
        ("Requests of all replicas", _told(seen.latest.get("rps"), "/s"), ""),
        ("Requests per replica", _told(per_replica.value, "/s"), _told(per_replica.target, "/s")),
        ("Healthy replicas", str(seen.healthy) if known else "", f"{seen.low} to {seen.high}"),
        ("Warming replicas", str(seen.warming) if known else "", ""),
        ("Desired replicas", "" if seen.doing.desired is None else str(seen.doing.desired), ""),
    ]


def find(deployment_id: str) -> Deployment:
    """The deployment by its id with its scaler; one that is gone is none. One query; raises Http404."""
    row = Deployment.objects.select_related("scaler").filter(deployment_id=deployment_id, gone_at=None).first()
    if row is None:
        raise Http404(f"There is no deployment {deployment_id}.")
    return row


def shown(params: Params) -> DeploymentRow:
    """The deployment of a fragment. One query."""
    row, now = find(params["id"]), clock.now()
    return DeploymentRow(row, doing_of(row, now), now)


def head(params: Params, _role: Role) -> Context:
    """Its state, who scales it, and the operators' orders in force."""
    seen = shown(params)
    row, now = seen.row, seen.now
    ordered = row.wanted_replicas is not None and (row.wanted_until is None or row.wanted_until > now)
    return {
        "seen": seen,
        "row": row,
        "scaler": getattr(row, "scaler", None),
        "ordered": ordered and seen.doing.zero_by != "operator",
        "held_zero": seen.doing.zero_by == "operator",
        "at_zero": seen.doing.known and not seen.doing.coming,
        "remedy": REMEDY,
        "show_stale_at": _stale_at(seen),
    }


def _stale_at(seen: DeploymentRow) -> datetime | None:
    """When its figures will be old: the page says so by itself then."""
    return seen.ticked_at + timedelta(seconds=stale_after_seconds()) if seen.ticked_at else None


def figures(params: Params, _role: Role) -> Context:
    """The four figures over its charts. One query."""
    seen = shown(params)
    latest = seen.latest
    return {
        "seen": seen,
        "latency": {"measure": seen.latency, "value": _told(latest.get("p95_ms"))},
        "rps": {"measure": seen.per_replica, "value": _told(seen.per_replica.value), "total": _told(latest.get("rps"))},
        "latest": latest,
    }


def _told(value: Any, unit: str = "") -> str:
    return "" if value is None else f"{amount(value)}{unit}"


def why(params: Params, _role: Role) -> Context:
    """The latest stored decision in words; ticks since then decided the same. Two queries."""
    seen = shown(params)
    decision = ReplicaDecision.objects.filter(deployment=seen.row).order_by("-id").first()
    return {"seen": seen, "story": tell(decision) if decision else None, "place": "why"}


def decisions(params: Params, _role: Role) -> Context:
    """One page of its decisions by key, newest first. Two queries."""
    seen = shown(params)
    state = PageState.read(PARAMS, QueryDict(params.get("query", ""))).placed(_IS_PLACE)
    found = ReplicaDecision.objects.filter(deployment=seen.row)
    page = keyset.read_page(found, _NEWEST_FIRST, DECISIONS_SHOWN, state["after"], state["before"])
    return {
        "stories": [tell(row) for row in page.rows],
        "older": state.address(after=page.after) if page.after else "",
        "newer": state.address(before=page.before) if page.before else "",
        "first_page": not state["after"] and not state["before"],
        "kept": duration_text(settings.IRIS_KEEP_DECISIONS_DAYS * 86_400),
    }


@dataclass(frozen=True, slots=True)
class ReplicaRow:
    """One replica as the latest tick saw it."""

    id: str
    status: str
    code: str
    created: datetime | None
    checked: datetime | None
    since: datetime | None
    crashed: bool


def replicas(params: Params, _role: Role) -> Context:
    """What the latest tick saw, what ails first. Two queries."""
    seen = shown(params)
    scaler = getattr(seen.row, "scaler", None)
    crashed = set(CrashedReplica.objects.filter(deployment=seen.row).values_list("replica_id", flat=True))
    rows = sorted(stored(scaler.replicas if scaler else ()), key=_replica_order)
    return {
        "seen": seen,
        "rows": [_replica(row, crashed) for row in rows[:REPLICAS_SHOWN]],
        "total": len(rows),
        "more": max(0, len(rows) - REPLICAS_SHOWN),
        "listed": seen.doing.known,
        "asked": max(0, seen.warming - sum(row.class_ == "warming" for row in rows)),
    }


def _replica_order(row: StoredReplica) -> tuple[int, float, str]:
    return _CLASS_ORDER.get(row.class_, -1), row.created or 0, row.id


def _replica(row: StoredReplica, crashed: set[str]) -> ReplicaRow:
    created, checked, since = map(words.moment, (row.created, row.checked, row.since))
    return ReplicaRow(row.id, row.status, row.class_, created, checked, since, row.id in crashed)


def setting_facts(params: Params, _role: Role) -> Context:
    """Settings in force and what is wrong with them. One query."""
    seen = shown(params)
    return {"seen": seen, "settings": setting_rows(seen.row), "findings": findings(seen.row)}


def target_of(deployment_id: str) -> str:
    """How the history names a deployment."""
    return f"deployment {deployment_id}"[:200]


def actions(params: Params, _role: Role) -> Context:
    rows = Action.objects.filter(target=target_of(params["id"])).order_by("-id")[:ACTIONS_SHOWN]
    return {"actions": action_rows(list(rows)), "target": target_of(params["id"])}


def _new_rows(params: Params, _role: Role, events: Sequence[FeedEvent]) -> Iterable[Row]:
    target = target_of(params["id"])
    return (
        Row(f"action-{row.pk}", {"row": action_row(row), "within": "deployment"})
        for row in new_actions(events)
        if row.target == target
    )


def _own(params: Params) -> set[str]:
    """Acts, syncs and stored decisions of this one."""
    return {f"deployment:{params['id']}"}


def _ticks(params: Params) -> set[str]:
    """These and every tick."""
    return {*_own(params), "deployments"}


_ID: Any = frozenset({"id"})
register(
    Fragment("deployment.head", "partials/deployment_head.html", head, _ticks, _ID),
    Fragment("deployment.figures", "partials/deployment_figures.html", figures, _ticks, _ID),
    Fragment("deployment.why", "partials/deployment_why.html", why, _own, _ID),
    Fragment("deployment.decisions", "partials/deployment_decisions.html", decisions, _own, frozenset({"id", "query"})),
    Fragment("deployment.replicas", "partials/deployment_replicas.html", replicas, _ticks, _ID),
    Fragment("deployment.settings", "partials/deployment_settings.html", setting_facts, _own, _ID),
    ListFragment("deployment.actions", "partials/deployment_actions.html", actions, {"actions"}, _ID,
                 row_template="partials/action_line.html", rows=_new_rows),
)  # fmt: skip
