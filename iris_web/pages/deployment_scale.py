"""Scale now, in two steps: how many, then exactly which replicas that adds and stops, to be confirmed.

The second step's address holds the number, so that it is a link like every state of a page. What it would stop is
worked out by the very rule that the scaler carries the order out with, and checked again when it is sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse

from iris_web.access import Act, require
from iris_web.live.times import duration_text
from iris_web.pages import addresses, words
from iris_web.pages.act_fields import REASON, FormField, Input
from iris_web.pages.acts import ActPage, run
from iris_web.pages.deployment_acts import has_now, seen_now
from iris_web.pages.deployment_rows import DeploymentRow
from iris_web.pages.shell import render_page
from scaling import operations
from scaling.operations.deployment_fields import effective
from scaling.operations.deployments import ORDER_LASTS
from scaling.replica_rows import stored
from scaling.replicas.manual import change_for
from scaling.replicas.memory import not_yet_listed
from scaling.replicas.replica import Replica, muster
from scaling.replicas.stored import memory_from_mapping

UNPROCESSABLE = 422


@dataclass(frozen=True, slots=True)
class Hit:
    """A replica that the order stops, and what it is now."""

    id: str
    code: str


@dataclass(frozen=True, slots=True)
class Reach:
    """What an order would do to the replicas of the latest tick; None where they are not known."""

    add: int
    stops: Sequence[Hit]


def reach(seen: DeploymentRow, wanted: int) -> Reach | None:
    """The order's change, by the rule that carries it out."""
    scaler = getattr(seen.row, "scaler", None)
    if scaler is None or not seen.doing.known:
        return None
    known = stored(scaler.replicas)
    replicas = [Replica(one.id, one.status, one.healthy, one.created, one.checked, one.was_healthy) for one in known]
    now = seen.now.timestamp()
    asked = memory_from_mapping(scaler.memory).asked
    coming = not_yet_listed(asked, frozenset(one.id for one in replicas), now) if asked else 0
    roster = muster(replicas, effective(seen.row), now, coming)
    add, stop = change_for(wanted, roster)
    classes = {one.id: one.class_ for one in known}
    return Reach(add, [Hit(one, classes[one]) for one in stop])


def view(request: HttpRequest, deployment_id: str) -> HttpResponse:
    """The form without a number, the confirmation with one."""
    require(request, Act.SCALE)
    text = (request.GET.get("replicas") or request.POST.get("replicas") or "").strip()
    seen = seen_now(deployment_id)
    wrong = problem(text, seen) if text else ""
    if not text or wrong:
        context = {"seen": seen, "has": has_now(seen), "room": _room(seen), "value": text[:20], "wrong": wrong}
        return render_page(
            request, "acts/deployment_scale.html", context, nav="deployments", status=UNPROCESSABLE if wrong else 200
        )
    wanted = int(text)
    return run(request, lambda: _confirmation(deployment_id, wanted), Act.SCALE)


def problem(text: str, seen: DeploymentRow) -> str:
    """One sentence on a number that cannot be meant; operations check it again."""
    low = min(seen.low, seen.high)
    digits = text.isascii() and text.isdigit() and len(text) < 7
    if digits and (int(text) == 0 or low <= int(text) <= seen.high):
        return ""
    return f"Expected a whole number from {low} to {seen.high}, or 0 to hold it at zero."


def _room(seen: DeploymentRow) -> str:
    return f"From {min(seen.low, seen.high)} to {seen.high}, its minimum and maximum; or 0 to hold it at zero."


def _confirmation(deployment_id: str, wanted: int) -> ActPage:
    seen = seen_now(deployment_id)
    name, hit = seen.id, reach(seen, wanted)
    stops = hit.stops if hit else ()
    fields = [REASON]
    if wanted == 0 and seen.doing.coming:
        fields.append(FormField("confirm", f"Type {name}: it will serve nobody", Input.NAME, expected=name))
    return ActPage(
        act=Act.SCALE,
        title=f"Scale {name} to {words.number(wanted)}" if wanted else f"Hold {name} at zero",
        button=f"Scale to {words.number(wanted)}" if wanted else "Hold at zero",
        back=addresses.deployment(name),
        done=f"{name} is being scaled to {words.number(wanted)}." if wanted else f"{name} is being taken to zero.",
        perform=lambda actor, given: operations.scale_deployment(
            actor, name, wanted, given["reason"], given["version"]
        ),
        nav="deployments",
        subject=name,
        effects=tuple(_effects(seen, wanted)),
        fields=fields,
        danger=bool(stops) or wanted == 0,
        version=seen.row.version,
        seen=[hit.id for hit in stops],
        template="acts/deployment_scale_confirm.html",
        context=_scope(hit, wanted),
    )


def _scope(hit: Reach | None, wanted: int) -> Mapping[str, Any]:
    return {"hit": hit, "wanted": wanted, "nothing": hit is not None and not hit.add and not hit.stops}


def _effects(seen: DeploymentRow, wanted: int) -> list[str]:
    told = [has_now(seen)]
    if wanted:
        told.append("Its next tick does it, past cooldown, window, metrics and a pause. Then the load decides again.")
    else:
        told.append("Its next tick does it, past minimum, cooldown and a pause. It stays at zero until it is woken.")
    told.append("Warming replicas are never stopped: those go once they are healthy, while the order lasts.")
    told.append(f"An order that is not reached within {duration_text(ORDER_LASTS.total_seconds())} is given up.")
    return told
