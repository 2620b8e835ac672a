"""What the API tells of each stored thing: one table per noun is both its JSON and its published schema."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from iris_web.pages.action_filters import OUTCOMES
from scaling import clock
from scaling.autoscaler.words import CapacityType, DeviceType, HintCode, Outcome, Tier
from scaling.models import ActorKind, ApiToken, Group, Hint, Job, Marker, Platform, Slice, Source, Worker
from scaling.operations import is_paused
from scaling.operations.changes import as_json

JsonSchema = Mapping[str, Any]

TEXT: JsonSchema = {"type": "string"}
WHOLE: JsonSchema = {"type": "integer"}
NUMBER: JsonSchema = {"type": "number"}
FLAG: JsonSchema = {"type": "boolean"}
TIME: JsonSchema = {"type": "string", "format": "date-time"}
OBJECT: JsonSchema = {"type": "object"}


def or_null(schema: JsonSchema) -> JsonSchema:
    nothing = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {**schema, "type": [schema["type"], "null"], **nothing}


def words(choices: Iterable[str]) -> JsonSchema:
    """One of these words: the values of the enum that the code has for them."""
    return {"type": "string", "enum": [str(word) for word in choices]}


def members(**described: JsonSchema) -> JsonSchema:
    """An object with these members, and maybe others."""
    return {"type": "object", "properties": described}


_OUTCOME = words(Outcome)
# Of groups that block a job, or of the checks of one group.
_STANDINGS: JsonSchema = {"type": "array", "items": members(outcome=_OUTCOME)}


class Shape(Protocol):
    """Something an answer can look like."""

    def schema(self) -> JsonSchema: ...


@dataclass(frozen=True, slots=True)
class Out:
    """One member of an answer. `get` takes it from the row; by default the attribute of that name."""

    name: str
    type: JsonSchema
    doc: str = ""
    get: Callable[[Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class Resource:
    """A noun of the API: its name in the schema, its members, and the relations its rows need loaded."""

    name: str
    members: tuple[Out, ...]
    related: tuple[str, ...] = ()

    def render(self, row: Any) -> dict[str, Any]:
        return {out.name: as_json(out.get(row) if out.get else getattr(row, out.name)) for out in self.members}

    def schema(self) -> JsonSchema:
        return {"$ref": f"#/components/schemas/{self.name}"}

    def definition(self) -> JsonSchema:
        members = {out.name: {**out.type} | ({"description": out.doc} if out.doc else {}) for out in self.members}
        return {"type": "object", "required": list(members), "properties": members}


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list: its items and where the next page begins."""

    of: Resource

    def schema(self) -> JsonSchema:
        following = {"type": ["string", "null"], "description": "`cursor` of the next page; null at the end."}
        members = {"items": {"type": "array", "items": self.of.schema()}, "next": following}
        return {"type": "object", "required": ["items", "next"], "properties": members}


@dataclass(frozen=True, slots=True)
class Plain:
    """An answer described by its own schema."""

    described: JsonSchema

    def schema(self) -> JsonSchema:
        return self.described


def _status(name: str) -> Callable[[Group], Any]:
    """A value of the record: of the last complete cycle, and of the markers since; null before the first one."""
    return lambda group: getattr(getattr(group, "status", None), name, None)


def _of(schema: JsonSchema, doc: str, *names: str) -> tuple[Out, ...]:
    return tuple(Out(name, schema, doc) for name in names)


def _price(group: Group) -> float | None:
    """The number that was given: it has four decimals and fewer digits than a float keeps."""
    price = group.price_per_slice_hour
    return None if price is None else float(price)


GROUP = Resource(
    "Group",
    (
        Out("name", TEXT),
        Out("platform", TEXT, get=lambda group: group.platform.name),
        *_of(TEXT, "", "zone", "region"),
        Out("device_type", words(DeviceType)),
        Out("device_variant", TEXT),
        Out("capacity_type", words(CapacityType)),
        *_of(WHOLE, "", "devices_per_worker", "workers_per_slice"),
        Out("worker_cpu", NUMBER, "Cores of one worker; 0 = unlimited."),
        *_of(WHOLE, "Bytes of one worker; 0 = unlimited.", "worker_memory", "worker_disk"),
        Out("priority", WHOLE, "Lower is tried first."),
        *_of(WHOLE, "Slices.", "min_slices", "buffer_slices", "max_slices"),
        Out("quota_pool", or_null(TEXT), get=lambda group: group.quota_pool.name if group.quota_pool else None),
        Out("allocation_tier", or_null(WHOLE)),
        *_of(NUMBER, "Seconds.", "idle_threshold_seconds", "provision_timeout_seconds"),
        Out("drain_idle_threshold_seconds", or_null(NUMBER), "Seconds; null = twice the idle threshold."),
        *_of(NUMBER, "Slices per minute.", "scale_up_rate", "scale_down_rate"),
        Out("attributes", OBJECT),
        Out("price_per_slice_hour", or_null(NUMBER), "In the currency of IRIS_CURRENCY; null = not known.", _price),
        *_of(or_null(TIME), "", "drain_since", "drain_deadline"),
        *_of(TEXT, "", "drain_by", "drain_reason"),
        Out("paused", FLAG, get=lambda group: is_paused(group, clock.now())),
        *_of(or_null(TIME), "", "pause_since", "pause_until"),
        *_of(TEXT, "", "pause_by", "pause_reason"),
        Out("outcome", or_null(_OUTCOME), "First failing check of the last cycle, or AVAILABLE.", _status("outcome")),
        Out("detail", or_null(TEXT), get=_status("detail")),
        Out("checks", or_null(_STANDINGS), "The whole filter chain.", _status("checks")),
        *(
            Out(name, or_null(WHOLE), get=_status(name))
            for name in (
                "assigned",
                "deficit",
                "scale_up",
                "scale_down",
                "target",
                "used",
                "capacity_remaining",
                "quota_remaining",
                "backoff_skipped_total",
            )
        ),
        *(Out(name, or_null(TIME), get=_status(name)) for name in ("backoff_expires_at", "stockout_until")),
        Out("slices", or_null(OBJECT), "Slices by state.", _status("slices")),
        Out("evaluated_at", or_null(TIME), "When the last cycle looked.", _status("at")),
        Out("version", WHOLE, "Give it back when you change the group."),
    ),
    related=("platform", "quota_pool", "status"),
)

WORKER = Resource(
    "Worker",
    (
        Out("name", TEXT),
        Out("slice", TEXT, get=lambda worker: worker.slice.name),
        Out("index", WHOLE),
        Out("state", words(Worker.State.values)),
        Out("address", TEXT),
        Out(
            "reported_tasks",
            WHOLE,
            "active_tasks of its last heartbeat, less the tasks that Iris placed there; 0 at least.",
        ),
        Out("heartbeat_at", or_null(TIME), "When its last count of tasks was taken, by its own clock."),
        Out("heard_at", or_null(TIME), "When its last heartbeat was received."),
        *_of(or_null(TIME), "", "unknown_since", "idle_since"),
    ),
    related=("slice",),
)

SLICE = Resource(
    "Slice",
    (
        Out("name", TEXT),
        Out("group", or_null(TEXT), get=lambda row: row.group.name if row.group else None),
        Out("platform", TEXT, get=lambda row: row.platform.name),
        Out("state", words(Slice.State.values)),
        Out("requested_at", TIME),
        *_of(or_null(TIME), "", "sent_at", "answered_at", "ready_at", "idle_since", "ended_at", "drain_since"),
        *_of(TEXT, "", "drain_by", "drain_reason", "reason", "error", "gang"),
        Out("is_probe", FLAG),
        Out("attempts", WHOLE),
    ),
    related=("group", "platform"),
)

MARKER = Resource(
    "Marker",
    (
        Out("id", WHOLE),
        Out("group", TEXT, get=lambda marker: marker.group.name),
        Out("kind", words(Marker.Kind.values)),
        Out("since", TIME),
        Out("until", or_null(TIME), "null = until the group is edited or the marker is cleared."),
        Out("message", TEXT, "The platform's own words."),
        Out("failures", WHOLE),
        Out("last_failure_at", TIME),
        Out("needs_person", FLAG),
        *_of(or_null(TIME), "", "acknowledged_at", "acknowledged_until", "closed_at"),
        *_of(TEXT, "", "acknowledged_by", "acknowledged_note", "closed_by", "closed_reason"),
        Out("version", WHOLE),
    ),
    related=("group",),
)

ACTION = Resource(
    "Action",
    (
        Out("id", WHOLE),
        Out("at", TIME),
        Out("kind", TEXT),
        Out("actor_kind", words(ActorKind.values)),
        Out("actor", TEXT),
        Out("source", words(Source.values)),
        *_of(TEXT, "", "group", "slice", "job", "target", "reason"),
        Out("outcome", words(value for value, _ in OUTCOMES if value)),
        *_of(or_null(OBJECT), "Only what changed.", "before", "after"),
        Out("cause", or_null(WHOLE), "The action it followed from.", lambda action: action.cause_id),
        Out("cycle", or_null(WHOLE)),
    ),
)


def _blocked_by(hint: Hint) -> list[dict[str, Any]]:
    """Times in ISO 8601, in rows of early versions too."""
    return [{**by, "until": _iso(by.get("until"))} for by in hint.blocked_by]


def _iso(until: object) -> object:
    return datetime.fromtimestamp(until, UTC).isoformat() if isinstance(until, int | float) else until


HINT = Resource(
    "Hint",
    (
        Out("source", TEXT, get=lambda hint: hint.job.source),
        Out("job_id", TEXT, get=lambda hint: hint.job.job_id),
        Out("code", words(HintCode)),
        Out("reason", TEXT, "Starts with the code."),
        Out("blocked_by", _STANDINGS, "Groups with their outcome and until when.", _blocked_by),
        Out("since", TIME),
    ),
    related=("job",),
)


def _hint(job: Job) -> dict[str, Any] | None:
    hint: Hint | None = getattr(job, "hint", None)
    if hint is None:
        return None
    return {
        "code": hint.code,
        "reason": hint.reason,
        "blocked_by": _blocked_by(hint),
        "since": as_json(hint.since),
    }


_OF_A_HINT = members(code=words(HintCode), reason=TEXT, blocked_by=_STANDINGS, since=TIME)
JOB = Resource(
    "Job",
    (
        Out("source", TEXT),
        Out("id", TEXT, get=lambda job: job.job_id),
        Out("state", words(Job.State.values)),
        *_of(WHOLE, "", "tasks", "pending_tasks", "running_tasks", "done_tasks", "priority"),
        Out("tier", words(Tier)),
        Out("gang", FLAG),
        Out("spec", OBJECT, "The request as it was accepted."),
        Out("run_seconds", or_null(NUMBER)),
        *_of(TIME, "", "submitted_at", "received_at"),
        Out("finished_at", or_null(TIME)),
        Out("hint", or_null(_OF_A_HINT), "Why it is not fully placed; null where it is.", _hint),
    ),
    related=("hint",),
)

PLATFORM = Resource(
    "Platform",
    (
        *_of(TEXT, "", "name", "kind"),
        Out("simulated", FLAG, "Its slices come from the simulated cloud.", lambda row: row.is_simulated),
        Out("mode", words(Platform.Mode.values)),
        Out("aborts_in_a_row", WHOLE),
        *_of(or_null(TIME), "", "unreachable_since", "listed_at"),
        Out("last_error", TEXT),
        Out("version", WHOLE),
    ),
)

POOL = Resource(
    "QuotaPool",
    (
        Out("name", TEXT),
        Out("limit", or_null(WHOLE), "Devices; null = not limited here."),
        Out("quota_metric", TEXT),
        Out("learned_limit", or_null(WHOLE), "What a platform told; wins while lower."),
        Out("learned_at", or_null(TIME)),
        Out("version", WHOLE),
    ),
)

TOKEN = Resource(
    "Token",
    (
        *_of(TEXT, "", "name", "prefix"),
        Out("role", words(ApiToken.Role.values)),
        *_of(TEXT, "", "scope", "created_by"),
        Out("created_at", TIME),
        *_of(or_null(TIME), "", "expires_at", "revoked_at", "last_used_at"),
    ),
)

RESOURCES = (GROUP, SLICE, WORKER, MARKER, ACTION, HINT, JOB, PLATFORM, POOL, TOKEN)
