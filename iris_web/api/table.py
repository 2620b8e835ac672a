"""Every route of the API: what it asks of its caller, what it reads, what it answers."""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from iris_web.access import Act
from iris_web.api import deployments, handlers, lists
from iris_web.api.callers import SCHEDULER, Need
from iris_web.api.callers import WORKER as WORKER_ROLE
from iris_web.api.handlers import act, edit, show
from iris_web.api.resources import (
    ACTION,
    FLAG,
    GROUP,
    JOB,
    MARKER,
    OBJECT,
    PLATFORM,
    POOL,
    SLICE,
    TEXT,
    TOKEN,
    WHOLE,
    WORKER,
    Plain,
    Resource,
)
from iris_web.api.routes import MIB, Route
from scaling import models, operations
from scaling.operations import DEMAND_FIELDS, HEARTBEAT_FIELDS, JOB_FIELDS, LIMIT_FIELDS, POOL_FIELDS, TOKEN_FIELDS
from scaling.operations.acts import ACT_FIELDS, REASON
from scaling.operations.fields import Field, FieldTable
from scaling.operations.inputs import Whole
from scaling.operations.platforms import MODE

VIEW, ADMIN = Need(Act.VIEW), Need(Act.MANAGE_TOKENS)
OWN_DEMAND = Need(Act.MANAGE_TOKENS, scoped=SCHEDULER)
OWN_JOBS = Need(Act.VIEW, scoped=SCHEDULER)
OWN_HEARTBEAT = Need(Act.MANAGE_TOKENS, scoped=WORKER_ROLE)

# The largest list of demand; the web server counts the bytes as they come and answers 413 once there are more.
DEMAND_BYTES = 32 * MIB

_VERSION = Field("version", Whole(1, 2**31 - 1, nullable=True), "The version you saw; 409 when it has moved since.")
_INPUTS = FieldTable([*ACT_FIELDS.values(), _VERSION, Field("mode", MODE, required=True)])
_MUST_HAVE_SEEN = Field("version", Whole(1, 2**31 - 1), "The version you saw; 409 when it has moved.", required=True)


def _input(name: str) -> Field:
    """The shared input of that name; with `!` it may not be left out."""
    return replace(_INPUTS[name.removesuffix("!")], required=True) if name.endswith("!") else _INPUTS[name]


def _edit(table: FieldTable) -> FieldTable:
    return FieldTable([_MUST_HAVE_SEEN, REASON, *table.values()])


def _plain(**properties: Any) -> Plain:
    return Plain({"type": "object", "properties": properties, "required": list(properties)})


_HALTED = _plain(halted=FLAG, version=WHOLE)
_NEW_TOKEN = _plain(token=TOKEN.schema(), secret=TEXT)
_COUNTS = _plain(source=TEXT, **{one.name: WHOLE for one in fields(operations.DemandReport) if one.name != "source"})
_DEMAND_BODY = DEMAND_FIELDS.schema()

_LISTS = (
    ("/groups", lists.GROUPS, VIEW, "Scaling groups with the last cycle's verdict"),
    ("/slices", lists.SLICES, VIEW, "Slices of every state"),
    ("/workers", lists.WORKERS, VIEW, "Workers of slices"),
    ("/markers", lists.MARKERS, VIEW, "Failure memories of groups, newest first"),
    ("/actions", lists.ACTIONS, VIEW, "The append-only history, newest first"),
    ("/hints", lists.HINTS, OWN_JOBS, "Why jobs wait"),
    ("/jobs", lists.JOBS, OWN_JOBS, "Jobs with their hints"),
    ("/platforms", lists.PLATFORMS, VIEW, "Platforms and how they are reached"),
    ("/pools", lists.POOLS, VIEW, "Quota pools"),
    ("/tokens", lists.TOKENS, ADMIN, "API tokens, without their secrets"),
)

_SINGLE = (
    ("/groups/{name}", models.Group, GROUP, "name", "One group"),
    ("/slices/{name}", models.Slice, SLICE, "name", "One slice"),
    ("/markers/{id}", models.Marker, MARKER, "pk", "One failure memory"),
    ("/actions/{id}", models.Action, ACTION, "pk", "One act"),
)

# path, operation, what it answers with, the act that the caller's role must allow, its inputs (!: required), meaning
_ACTS: tuple[tuple[str, Callable[..., Any], Resource, Act, str, str], ...] = (
    ("/groups/{name}/drain", operations.drain_group, GROUP, Act.DRAIN, "reason deadline version", "Empty the group"),
    ("/groups/{name}/undrain", operations.undrain_group, GROUP, Act.DRAIN, "reason version", "End the drain"),
    ("/groups/{name}/pause", operations.pause_group, GROUP, Act.PAUSE, "reason until version", "Request nothing new"),
    ("/groups/{name}/resume", operations.resume_group, GROUP, Act.PAUSE, "reason version", "End the pause"),
    ("/slices/{name}/drain", operations.drain_slice, SLICE, Act.DRAIN, "reason", "Let one slice go when idle"),
    ("/slices/{name}/undrain", operations.undrain_slice, SLICE, Act.DRAIN, "reason", "Keep the slice after all"),
    (
        "/markers/{id}/acknowledge",
        operations.acknowledge_marker,
        MARKER,
        Act.ACKNOWLEDGE,
        "note until version",
        "Say that someone knows",
    ),
    ("/markers/{id}/clear", operations.clear_marker, MARKER, Act.CLEAR_MARKER, "reason version", "Forget and retry"),
    ("/markers/{id}/hold", operations.hold_marker, MARKER, Act.CLEAR_MARKER, "until! reason version", "Block longer"),
    (
        "/pools/{name}/forget_learned_limit",
        operations.forget_learned_limit,
        POOL,
        Act.SET_QUOTA,
        "reason version",
        "Let the pool's own limit count again",
    ),
    (
        "/platforms/{name}/mode",
        operations.set_platform_mode,
        PLATFORM,
        Act.SET_PLATFORM_MODE,
        "mode reason version",
        "Observe, or act",
    ),
    ("/tokens/{name}/revoke", operations.revoke_token, TOKEN, Act.MANAGE_TOKENS, "reason", "Refuse it from now on"),
)

# What a summary leaves out.
_MEANINGS = {
    "/markers/{id}/acknowledge": "Your own note is replaced. Somebody else's, while it holds, only with the marker's "
    "`version`: without it the answer is 409, which names who acknowledged it, when, and the note.",
}

_EDITS = (
    ("/groups/{name}/limits", operations.set_group_limits, GROUP, Act.SET_LIMITS, LIMIT_FIELDS, "Change its limits"),
    ("/pools/{name}/limits", operations.set_quota_pool, POOL, Act.SET_QUOTA, POOL_FIELDS, "Change its limit"),
)


def _tag(path: str) -> str:
    return path.split("/")[1]


def _demand() -> Iterator[Route]:
    put = Route(
        "PUT", "/demand/{source}", "Replace the pending list", handlers.put_demand, OWN_DEMAND, _COUNTS, "demand"
    )
    yield replace(put, raw_body=_DEMAND_BODY, limit_bytes=DEMAND_BYTES, description=operations.DEMAND_MEANING)
    job = "/jobs/{job}"
    yield Route("PUT", job, "Add or change one job", handlers.put_job, OWN_DEMAND, JOB, "jobs", body=JOB_FIELDS)
    several = "Several sources have a job of this id: write <source>:<id>"
    show = Route("GET", job, "One job with its hint", handlers.show_job, OWN_JOBS, JOB, "jobs")
    yield replace(show, refuses=f"{several}.")
    cancel = Route("DELETE", job, "Cancel a job; its tasks end", handlers.delete_job, OWN_DEMAND, JOB, "jobs")
    meaning = "Sent again, it changes nothing and answers the same."
    yield replace(cancel, description=meaning, refuses=f"The job is done. {several}.")
    path, told = "/workers/{name}/heartbeat", "A worker's sign of life"
    yield Route("POST", path, told, handlers.heartbeat, OWN_HEARTBEAT, WORKER, "workers", body=HEARTBEAT_FIELDS)


def _whole() -> Iterator[Route]:
    """Routes about the installation as a whole."""
    yield Route("GET", "/status", "The cluster in counts", handlers.show_overview, VIEW, Plain(OBJECT), "status")
    body = _INPUTS.only(["reason", "version"])
    for path, handler, summary in (
        ("/halt", handlers.halt, "Stop buying and releasing of slices at once; deployments go on being scaled"),
        ("/unhalt", handlers.unhalt, "Let buying and releasing of slices go on"),
    ):
        yield Route("POST", path, summary, handler, Need(Act.HALT), _HALTED, "status", body=body)
    new = Route("POST", "/tokens", "Make a token", handlers.create_token, ADMIN, _NEW_TOKEN, "tokens", status=201)
    yield replace(new, body=TOKEN_FIELDS)


def _all() -> Iterator[Route]:
    yield from _whole()
    yield from _demand()
    yield from deployments.ROUTES
    for path, listing, needs, summary in _LISTS:
        yield Route("GET", path, summary, listing, needs, listing.shape(), _tag(path), query=listing.fields())
    for path, model, shown, key, summary in _SINGLE:
        yield Route("GET", path, summary, show(model, shown, key), VIEW, shown, _tag(path))
    for path, do, shown, needed, inputs, summary in _ACTS:
        body = FieldTable(map(_input, inputs.split()))
        meaning = _MEANINGS.get(path, "")
        yield Route("POST", path, summary, act(do, shown), Need(needed), shown, _tag(path), meaning, body=body)
    for path, do, shown, needed, table, summary in _EDITS:
        for method in ("POST", "PATCH"):
            yield Route(method, path, summary, edit(do, shown), Need(needed), shown, _tag(path), body=_edit(table))


ROUTES = tuple(_all())
