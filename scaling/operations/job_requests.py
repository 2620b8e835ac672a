"""Reads a job as a scheduler tells it. The planner's own parser decides what an amount or a constraint means.

What cannot be read (a negative count, an unknown unit, an unknown field) is a fault with its path, and refused. What is
readable and can never be served together (GPUs and TPUs at once, two different EQ on one key) is accepted: its job gets
an `invalid_request` hint, so that one such job does not hold up the list it came in.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from scaling.autoscaler.demand import DemandEntry
from scaling.autoscaler.words import Tier
from scaling.characters import check_line, harmless
from scaling.operations.errors import Fault
from scaling.operations.fields import MAX_FAULTS, Field, FieldTable
from scaling.operations.inputs import Choice, Flag, JsonSchema, Moment, Number, Text, Whole, shown

MAX_TASKS = 1_000_000
MAX_SPEC_CHARS = 16_384
DEFAULT_PRIORITY = 100
_SOURCE = re.compile(r"[A-Za-z0-9._-]{1,100}")


@dataclass(frozen=True, slots=True)
class Loose:
    """A value whose inside the planner's parser reads; only its outer type is looked at here."""

    type: type
    described: tuple[tuple[str, Any], ...]

    def read(self, value: object) -> Any:
        if value is not None and not isinstance(value, self.type):
            raise ValueError(f"expected {'an object' if self.type is dict else 'a list'}, got {shown(value)}")
        return value

    def schema(self) -> JsonSchema:
        return dict(self.described)


@dataclass(frozen=True, slots=True)
class SourceName:
    """A demand source's name; without a colon, since `<source>:<job id>` names a job."""

    def read(self, value: object) -> str:
        if not isinstance(value, str) or not _SOURCE.fullmatch(value):
            raise ValueError(f"expected 1 to 100 letters, digits, dots, dashes or underscores, got {shown(value)}")
        return value

    def schema(self) -> JsonSchema:
        return {"type": "string", "pattern": f"^{_SOURCE.pattern}$"}


_RESOURCES = Loose(dict, (("type", "object"), ("examples", [{"cpu": "500m", "memory": "4GiB"}, {"tpu": 12}])))
_CONSTRAINTS = Loose(list, (("type", "array"), ("examples", [["us-central1-b", "preemptible"]])))
_DEVICE = Loose(dict, (("type", "object"), ("examples", [{"type": "gpu", "variants": ["h100"], "count": 8}])))

# What a DemandEntry is made of: `DemandEntry(**job.spec, priority=..., job_id=..., submitted=...)`.
SPEC_FIELDS = FieldTable(
    [
        Field(
            "resources",
            _RESOURCES,
            "Per task: cpu, memory, disk, and gpu or tpu. A number of tpu counts workers, a task each.",
        ),
        Field("device", _DEVICE, "The long form of a device: type, variants, count per task."),
        Field(
            "constraints",
            _CONSTRAINTS,
            "Words, each a value alone (us-east5), and {key, operator, values, mode}.",
        ),
        Field(
            "tasks",
            Whole(1, MAX_TASKS),
            "How many are to run, 1 unless told; times the number of tpu workers where that is given.",
        ),
        Field("tier", Choice(tuple(Tier)), "standard unless told."),
        Field("gang", Flag(), "All tasks at once or none, one per worker."),
        Field("allow_preemptible", Flag(), "A production job may run on preemptible slices."),
        Field("allow_accelerators", Flag(), "A job without accelerators may run beside them."),
    ]
)
# Everything of a job but its id, which is in the address of a single job and in each item of a list.
JOB_FIELDS = FieldTable(
    [
        *SPEC_FIELDS.values(),
        Field("priority", Whole(-1_000_000, 1_000_000), f"Higher first; {DEFAULT_PRIORITY} unless told."),
        Field("submitted", Moment(), "When it was submitted; when it is first listed unless told."),
        Field("run_seconds", Number(0, 31_536_000, nullable=True), "How long a task runs on a simulated worker."),
    ]
)
JOB_ID = Text(200, required=True, exact=True)
LISTED_JOB_FIELDS = FieldTable([Field("id", JOB_ID, "Unique in its source.", required=True), *JOB_FIELDS.values()])
SOURCE_FIELDS = FieldTable([Field("source", SourceName(), required=True)])
_DEFAULTS: Mapping[str, Any] = {"tasks": 1, "tier": Tier.STANDARD.value}


@dataclass(frozen=True, slots=True)
class Spec:
    """What a job's tasks need, without defaults. `text` is its canonical JSON; jobs that ask for the same share a hash.

    `tasks` as the planner counts them: `{"tpu": 12}` is 12.
    """

    fields: Mapping[str, Any]
    text: str
    hash: str
    tasks: int

    @property
    def tier(self) -> str:
        return str(self.fields.get("tier", _DEFAULTS["tier"]))

    @property
    def gang(self) -> bool:
        return bool(self.fields.get("gang", False))


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A job as it was read; `submitted` None = not told."""

    job_id: str
    spec: Spec
    priority: int
    run_seconds: float | None
    submitted: datetime | None


class JobReader:
    """Reads the jobs of a list. Most of them ask for what another one asked for, so each spec is understood once."""

    def __init__(self) -> None:
        self._known: dict[str, Spec] = {}

    def read(self, values: object, at: str = "", job_id: str | None = None) -> tuple[JobRequest | None, list[Fault]]:
        """The job, or what is wrong with it at paths below `at`. Without `job_id` the values hold an `id`."""
        table = LISTED_JOB_FIELDS if job_id is None else JOB_FIELDS
        told = _told_spec(values)
        spec = self._known.get(told)
        if spec is not None and isinstance(values, Mapping):
            read, faults = table.try_read({name: values[name] for name in values if name not in SPEC_FIELDS}, at)
        else:
            read, faults = table.try_read(values, at)
            spec, more = read_spec(read, f"{at}." if at else "")
            faults += more
        if faults or spec is None:
            return None, faults[:MAX_FAULTS]
        self._known[told] = spec
        return _request(read, spec, job_id), []


def _told_spec(values: object) -> str:
    """The spec as it was told, to know it again."""
    told = {name: values[name] for name in SPEC_FIELDS if name in values} if isinstance(values, Mapping) else {}
    return _canonical(told)


def _request(read: Mapping[str, Any], spec: Spec, job_id: str | None) -> JobRequest:
    return JobRequest(
        job_id=job_id if job_id is not None else read["id"],
        spec=spec,
        priority=read.get("priority", DEFAULT_PRIORITY),
        run_seconds=read.get("run_seconds"),
        submitted=read.get("submitted"),
    )


def read_spec(read: Mapping[str, Any], prefix: str) -> tuple[Spec | None, list[Fault]]:
    """The spec among the read fields, or everything that the planner's parser cannot read of it."""
    fields = {name: read[name] for name in SPEC_FIELDS if _says_something(name, read.get(name))}
    text = _canonical(fields)
    if len(text) > MAX_SPEC_CHARS:
        message = f"expected at most {MAX_SPEC_CHARS:,} characters of resources and constraints, got {len(text):,}"
        return None, [Fault(f"{prefix}resources", message)]
    if faults := list(_hidden(fields, text, prefix)):
        return None, faults
    entry = DemandEntry(**fields)
    if entry.problem:
        faults = list(_unreadable(fields, prefix))
    elif entry.tasks > MAX_TASKS:
        faults = [Fault(f"{prefix}tasks", f"expected at most {MAX_TASKS:,} tasks, got {entry.tasks:,}")]
    if faults:
        return None, faults
    tasks = fields.get("tasks", 1) if entry.problem else entry.tasks
    return Spec(fields, text, hashlib.sha256(text.encode()).hexdigest(), tasks), []


def _canonical(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), default=repr)


def _says_something(name: str, value: Any) -> bool:
    """Whether a field says anything: what is left out, empty or the default is the same request."""
    return value is not None and value != _DEFAULTS.get(name, False) and value not in ({}, [])


def _hidden(fields: Mapping[str, Any], text: str, prefix: str) -> Iterator[Fault]:
    """The names and words with a character that nobody sees: hints and pages would repeat them."""
    for place, told in _texts(fields) if "\\" in text else ():
        try:
            check_line(told)
        except ValueError as wrong:
            yield Fault(f"{prefix}{harmless(place)}"[:120], str(wrong))


def _texts(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Every text within, names of fields too, with its place."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield place, name
            yield from _texts(inner, f"{place}.{name}" if place else name)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, f"{place}[{index}]")


def _unreadable(spec: Mapping[str, Any], prefix: str) -> Iterator[Fault]:
    """The parts that cannot be read by themselves; none where only the parts together make no sense."""
    for path, name, alone in _parts(spec):
        problem = DemandEntry(**alone).problem
        if problem:
            yield Fault(prefix + path, problem.removeprefix("resources: ").removeprefix(f"{name}: "))


def _parts(spec: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(path, name, entry fields) of each part that can be asked about alone."""
    for name, value in spec.get("resources", {}).items():
        # `tpu: 0` says "none" beside other amounts, so it is never asked about quite alone.
        yield f"resources.{name}"[:120], name, {"resources": {"cpu": 0, name: value}}
    for index, constraint in enumerate(spec.get("constraints", [])):
        yield f"constraints[{index}]", "constraints", {"constraints": [constraint]}
    if "device" in spec:
        yield "device", "device", {"device": spec["device"]}
