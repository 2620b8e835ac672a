"""Acts on a deployment: pause with a direction, resume, wake; and forgetting those no longer listed."""

from datetime import datetime
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse

from iris_web.access import Act
from iris_web.pages import addresses
from iris_web.pages.act_fields import REASON, SPANS, FormField, Input
from iris_web.pages.acts import ActPage, run
from iris_web.pages.deployment import find
from iris_web.pages.deployment_rows import DeploymentRow
from iris_web.pages.deployment_states import doing_of
from iris_web.pages.words import plural
from scaling import clock, operations
from scaling.models import Deployment

FORGET_SHOWN = 200
_FOREVER = "until someone resumes it"
DIRECTIONS: tuple[tuple[str, str, str], ...] = (
    ("both", "Everything", "It is left exactly as it is: nothing is added, nothing removed, failed ones included."),
    ("up", "Adding", "Nothing is added, not even up to its minimum. Removing goes on."),
    ("down", "Removing", "No healthy replica is removed, not even down to its maximum. Adding goes on."),
)
"""(direction, what it stops, what that means)."""


def seen_now(deployment_id: str) -> DeploymentRow:
    """The deployment as it is at this moment; raises Http404."""
    row, now = find(deployment_id), clock.now()
    return DeploymentRow(row, doing_of(row, now), now)


def has_now(seen: DeploymentRow) -> str:
    """What it has now, as the acts tell it."""
    if not seen.doing.known:
        return "How many replicas it has is not known now."
    return f"It has {seen.healthy} healthy and {seen.warming} coming replicas now, of {seen.low} to {seen.high}."


def pause(request: HttpRequest, deployment_id: str) -> HttpResponse:
    """Which direction, and for how long."""

    def make() -> ActPage:
        seen = seen_now(deployment_id)
        row, name = seen.row, seen.id
        direction = request.POST.get("direction", "").strip() or (seen.doing.pause or "both")
        return ActPage(
            act=Act.PAUSE,
            title=f"Pause {name}",
            button="Pause",
            back=addresses.deployment(name),
            done=f"{name} is paused.",
            perform=lambda actor, given: operations.pause_deployment(
                actor, name, direction, given["until"], given["reason"], given["version"]
            ),
            nav="deployments",
            subject=name,
            effects=(
                "Its next tick obeys, within seconds. What serves goes on serving.",
                has_now(seen),
                "An order to scale now goes past a pause. At its end the load decides again, with the window kept.",
            ),
            fields=(
                FormField("until", "How long", Input.END, spans=(("", _FOREVER), *SPANS)),
                REASON,
            ),
            version=row.version,
            template="acts/deployment_pause.html",
            context={"directions": DIRECTIONS, "chosen": direction},
            instead=("Resume", f"{addresses.deployment(name)}resume/") if seen.doing.pause else None,
        )

    return run(request, make, Act.PAUSE)


def resume(request: HttpRequest, deployment_id: str) -> HttpResponse:
    def make() -> ActPage:
        seen = seen_now(deployment_id)
        name = seen.id
        zero = ("It is held at zero as well: waking it ends that.",) if seen.doing.zero_by == "operator" else ()
        return ActPage(
            act=Act.PAUSE,
            title=f"Resume {name}",
            button="Resume",
            back=addresses.deployment(name),
            done=f"{name} is resumed.",
            perform=lambda actor, given: operations.resume_deployment(actor, name, given["reason"], given["version"]),
            nav="deployments",
            subject=name,
            effects=("Health and load decide again from its next tick on.", has_now(seen), *zero),
            version=seen.row.version,
            instead=None if seen.doing.pause else ("Pause", f"{addresses.deployment(name)}pause/"),
        )

    return run(request, make, Act.PAUSE)


def wake(request: HttpRequest, deployment_id: str) -> HttpResponse:
    def make() -> ActPage:
        seen = seen_now(deployment_id)
        name = seen.id
        count = max(1, min(seen.low, seen.high))
        held = seen.doing.zero_by == "operator"
        by = "An operator holds it at zero: that ends." if held else "It went to zero idle."
        effects: tuple[str, ...] = (by, f"Its next tick adds {plural(count, 'replica')}; then load and minimum decide.")
        if not held and seen.doing.coming:
            effects = (f"It is not at zero: {has_now(seen)} There is nothing to wake.",)
        return ActPage(
            act=Act.SCALE,
            title=f"Wake {name}",
            button="Wake",
            back=addresses.deployment(name),
            done=f"{name} is being woken.",
            perform=lambda actor, given: operations.wake_deployment(actor, name, given["reason"], given["version"]),
            nav="deployments",
            subject=name,
            effects=effects,
            version=seen.row.version,
        )

    return run(request, make, Act.SCALE)


def forget(request: HttpRequest) -> HttpResponse:
    """Forget every deployment that the Gateway no longer lists: shown one by one, checked again when sent."""

    def make() -> ActPage:
        rows = list(Deployment.objects.filter(gone_at=None, absent_since__isnull=False).select_related("scaler"))
        now: datetime = clock.now()
        shown = [DeploymentRow(row, doing_of(row, now), now) for row in rows[:FORGET_SHOWN]]
        return ActPage(
            act=Act.SCALE,
            title="Forget deployments that are no longer listed",
            button=f"Forget {plural(len(rows), 'deployment')}",
            back="/deployments/",
            done=f"{plural(len(rows), 'deployment')} forgotten.",
            perform=lambda actor, given: operations.forget_absent_deployments(actor, given["reason"]),
            nav="deployments",
            subject="Deployments",
            effects=(
                "Iris stops scaling them and drops what it remembers of them: windows, cooldowns, overrides, pauses.",
                "Nothing is sent to the Gateway: a replica that still runs goes on running.",
                "Their history stays. One that the Gateway lists again is taken up as new.",
            ),
            danger=True,
            seen=[quote(row.deployment_id, safe="") for row in rows],
            template="acts/deployment_forget.html",
            context={"rows": shown, "count": len(rows), "more": max(0, len(rows) - FORGET_SHOWN)},
        )

    return run(request, make, Act.SCALE)
