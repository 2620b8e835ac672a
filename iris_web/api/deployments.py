"""Deployments in the API: what is told of one, its lists, and every act on it as a route."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db.models import Q

from iris_web.access import Act
from iris_web.api.callers import Need
from iris_web.api.handlers import act
from iris_web.api.listings import Filter, Listing
from iris_web.api.resources import NUMBER, OBJECT, TEXT, TIME, WHOLE, Out, Plain, Resource, members, or_null, words
from iris_web.api.routes import Answer, Call, Route
from iris_web.pages.deployment_conditions import is_pausing
from iris_web.pages.deployment_states import DEPLOYMENT as LOOKS
from iris_web.pages.deployment_states import code_of, doing_of
from iris_web.pages.words import moment
from scaling import clock, operations
from scaling.models import Deployment, PauseDirection, ReplicaDecision
from scaling.operations import EDIT_FIELDS, ORDER_FIELDS
from scaling.operations.acts import ACT_FIELDS, REASON
from scaling.operations.changes import missing
from scaling.operations.deployment_fields import From, in_force, source_of
from scaling.operations.fields import Field, FieldTable
from scaling.operations.inputs import Choice, Flag, Text, Whole
from scaling.replica_rows import NAMES, stored
from scaling.replicas.decision import Gate, LimitCode
from scaling.replicas.deployment import SCALED_STATUSES
from scaling.replicas.memory import ZeroBy
from scaling.replicas.replica import ReplicaClass
from scaling.scalers import is_assigned, is_unassigned

TAG = "deployments"
_VERSION = Field("version", Whole(1, 2**31 - 1, nullable=True), "The version you saw; 409 when it has moved since.")
_MUST_HAVE_SEEN = Field("version", Whole(1, 2**31 - 1), "The version you saw; 409 when it has moved.", required=True)
_INPUTS = FieldTable([*ACT_FIELDS.values(), *ORDER_FIELDS.values(), _VERSION])
_TIMES = frozenset({"created", "checked", "since"})


def _latest(name: str) -> Callable[[Deployment], Any]:
    """A member of the latest tick's picture; null before the first one."""
    return lambda row: row.scaler.latest.get(name) if hasattr(row, "scaler") else None


def _number(name: str) -> Callable[[Deployment], float | None]:
    """As a float in any case: PostgreSQL keeps 1e300 as an integer of 301 digits."""
    told = _latest(name)
    return lambda row: None if (value := told(row)) is None else float(value)


def _time(name: str) -> Callable[[Deployment], datetime | None]:
    return lambda row: moment(_latest(name)(row))


def _code(name: str) -> Callable[[Deployment], str | None]:
    return lambda row: _latest(name)(row) or None


def _setting(name: str) -> Callable[[Deployment], Any]:
    return lambda row: in_force(row, name)


def _last_request(row: Deployment) -> datetime | None:
    """As the latest tick was told; the row itself is written seldom."""
    return _time("last_request_at")(row) or row.last_request_at


def _holder(row: Deployment) -> str | None:
    return (row.scaler.holder or None) if doing_of(row, clock.now()).assigned else None


def _pause(row: Deployment) -> str | None:
    return doing_of(row, clock.now()).pause or None


def _zero_by(row: Deployment) -> str | None:
    return (row.scaler.zero_by or None) if hasattr(row, "scaler") else None


def _state(row: Deployment) -> str:
    return code_of(doing_of(row, clock.now()))


def _replicas(row: Deployment) -> list[dict[str, Any]]:
    found = row.scaler.replicas if hasattr(row, "scaler") else []
    return [
        {name: _told(moment(value)) if name in _TIMES else value for name, value in zip(NAMES, one, strict=True)}
        for one in stored(found)
    ]


def _told(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _decision(row: Deployment) -> dict[str, Any] | None:
    found = ReplicaDecision.objects.filter(deployment=row).order_by("-id").values("id", "at", "record").first()
    return None if found is None else {**found["record"], "id": found["id"], "at": found["at"].isoformat()}


DEPLOYMENT = Resource(
    "Deployment",
    (
        Out("id", TEXT, get=lambda row: row.deployment_id),
        Out("name", TEXT),
        Out("status", TEXT, f"A word of the Gateway's, in lower case; scaled: {', '.join(sorted(SCALED_STATUSES))}."),
        Out("state", words(tuple(LOOKS)), "What it is doing, in one word.", _state),
        *(Out(name, WHOLE, "In force.", _setting(name)) for name in ("min_replicas", "max_replicas")),
        *(Out(name, or_null(NUMBER), "In force; null or 0 = no target.", _setting(name))
          for name in ("target_latency_p95_ms", "target_rps")),
        *(Out(name, NUMBER, "In force.", _setting(name))
          for name in ("stabilization_window_seconds", "cooldown_seconds", "tolerance")),
        Out("scale_up_limit", or_null(WHOLE), "In force; null = none.", _setting("scale_up_limit")),
        Out("overrides", OBJECT, "Settings that an operator gave in place of the Gateway's."),
        Out("sources", {"type": "object", "additionalProperties": words(From)}, "Where each setting comes from.",
            lambda row: {name: source_of(row, name).value for name in EDIT_FIELDS}),
        *(Out(name, or_null(WHOLE), "As the latest tick counted; null = unknown.", _latest(name))
          for name in ("healthy", "warming", "unhealthy", "failed", "desired")),
        *(Out(name, or_null(NUMBER), "As the latest tick saw it; null = unknown, never 0.", _number(name))
          for name in ("p95_ms", "rps", "latency_ratio", "rps_ratio")),
        Out("gate", or_null(words(Gate)), "What stopped or held the latest tick.", _code("gate")),
        Out("bound", or_null(words(LimitCode)), "The limiter that bound.", _code("bound")),
        Out("reason", or_null(TEXT), "Why it did (not) scale, in a sentence.", _latest("reason")),
        Out("next_possible_at", or_null(TIME), get=_time("next_possible_at")),
        Out("metrics_missing_since", or_null(TIME), get=_time("metrics_missing_since")),
        Out("scaler", or_null(TEXT), "The instance that scales it; null = none does.", _holder),
        Out("ticked_at", or_null(TIME), get=lambda row: row.scaler.ticked_at if hasattr(row, "scaler") else None),
        Out("paused", or_null(words(PauseDirection.values)), "The direction of a pause in force.", _pause),
        *(Out(name, or_null(TIME)) for name in ("pause_since", "pause_until")),
        *(Out(name, TEXT) for name in ("pause_by", "pause_reason")),
        Out("zero_by", or_null(words(ZeroBy)), "Who brought it to zero.", _zero_by),
        Out("wanted_replicas", or_null(WHOLE), "An operator's order that is not reached yet."),
        Out("wanted_until", or_null(TIME)),
        Out("last_request_at", or_null(TIME), get=_last_request),
        Out("absent_since", or_null(TIME), "Since when the Gateway no longer lists it; it is held as it is."),
        Out("version", WHOLE, "Give it back when you change the deployment."),
    ),
    related=("scaler",),
)  # fmt: skip

_REPLICA = members(**{"class": words(ReplicaClass)})
WHOLE_DEPLOYMENT = Resource(
    "DeploymentWithReplicas",
    (
        *DEPLOYMENT.members,
        Out("replicas", {"type": "array", "items": _REPLICA}, "As the latest tick saw them.", _replicas),
        Out("decision", or_null(OBJECT), "The whole record of the latest stored decision.", _decision),
    ),
    related=("scaler",),
)

RESOURCES = (DEPLOYMENT, WHOLE_DEPLOYMENT)


def _assigned(wanted: bool) -> Q:
    return is_assigned(clock.now()) if wanted else is_unassigned(clock.now())


def _paused(wanted: bool) -> Q:
    return is_pausing(clock.now()) if wanted else ~is_pausing(clock.now())


LIST = Listing(
    Deployment,
    DEPLOYMENT,
    (
        Filter("status", Text(50), "status"),
        Filter("gate", Choice(tuple(gate.value for gate in Gate)), "scaler__gate"),
        Filter("assigned", Flag(), _assigned, "false: nobody scales it."),
        Filter("paused", Flag(), _paused),
        Filter("listed", Flag(), lambda wanted: Q(absent_since__isnull=wanted), "false: the Gateway left it out."),
    ),
    key="deployment_id",
    own=lambda _caller: Q(gone_at=None),
)


def show_one(call: Call) -> Answer:
    name = call.path["deployment"]
    row = Deployment.objects.select_related("scaler").filter(deployment_id=name, gone_at=None).first()
    if row is None:
        raise missing(Deployment, "deployment_id", name)
    return Answer(WHOLE_DEPLOYMENT.render(row))


def edit(call: Call) -> Answer:
    """`version` and `reason` beside the settings that change."""
    changes = dict(call.body)
    version, reason = changes.pop("version"), changes.pop("reason", "")
    row = operations.edit_deployment(call.caller.actor, call.path["deployment"], version, changes, reason)
    return Answer(DEPLOYMENT.render(row))


def forget_absent(call: Call) -> Answer:
    return Answer({"forgotten": operations.forget_absent_deployments(call.caller.actor, **call.body)})


# path below the deployment, operation, the act that the role must allow, its inputs (!: required), meaning
_ACTS: tuple[tuple[str, Callable[..., Any], Act, str, str], ...] = (
    ("pause", operations.pause_deployment, Act.PAUSE, "direction until reason version", "Stop it, or one direction"),
    ("resume", operations.resume_deployment, Act.PAUSE, "reason version", "End the pause"),
    ("scale", operations.scale_deployment, Act.SCALE, "replicas! reason version", "Have so many now; 0 holds at zero"),
    ("wake", operations.wake_deployment, Act.SCALE, "reason version", "Bring it back from zero"),
)  # fmt: skip


def _body(inputs: str) -> FieldTable:
    return FieldTable(
        replace(_INPUTS[name.removesuffix("!")], required=True) if name.endswith("!") else _INPUTS[name]
        for name in inputs.split()
    )


def _routes() -> Iterator[Route]:
    view, one = Need(Act.VIEW), "/deployments/{deployment}"
    yield Route("GET", "/deployments", "Deployments with their latest tick", LIST, view, LIST.shape(), TAG,
                query=LIST.fields())  # fmt: skip
    yield Route("GET", one, "One deployment, its replicas, its decision", show_one, view, WHOLE_DEPLOYMENT, TAG)
    for name, do, needed, inputs, summary in _ACTS:
        yield Route("POST", f"{one}/{name}", summary, act(do, DEPLOYMENT), Need(needed), DEPLOYMENT, TAG,
                    body=_body(inputs))  # fmt: skip
    settings = FieldTable([_MUST_HAVE_SEEN, REASON, *EDIT_FIELDS.values()])
    for method in ("POST", "PATCH"):
        yield Route(
            method, f"{one}/settings", "Set its targets and limits; null gives the Gateway's back",
            edit, Need(Act.SET_LIMITS), DEPLOYMENT, TAG, body=settings,
        )  # fmt: skip
    forgotten = Plain({"type": "object", "properties": {"forgotten": WHOLE}})
    yield Route("POST", "/deployments/absent/forget", "Forget those that the Gateway no longer lists", forget_absent,
                Need(Act.SCALE), forgotten, TAG, body=_body("reason"))  # fmt: skip


ROUTES = tuple(_routes())
