"""What the routes do: each hands its checked input to an operation and renders what that returns."""

from collections.abc import Callable
from typing import Any

from iris_web.api.callers import SCHEDULER, confine
from iris_web.api.problems import Problem
from iris_web.api.resources import JOB, TOKEN, WORKER, Resource
from iris_web.api.routes import Answer, Call, Handler
from scaling import clock, operations
from scaling.models import Action, Group, Marker, Slice
from scaling.operations.changes import missing
from scaling.overview import overview


def act(do: Callable[..., Any], shows: Resource) -> Handler:
    """The handler of an act whose body fields are the operation's own: `do(actor, <names in the path>, **body)`."""

    def handle(call: Call) -> Answer:
        return Answer(shows.render(do(call.caller.actor, *call.path.values(), **call.body)))

    return handle


def edit(do: Callable[..., Any], shows: Resource) -> Handler:
    """The handler of an edit: `version` and `reason` beside the fields that change."""

    def handle(call: Call) -> Answer:
        changes = dict(call.body)
        version, reason = changes.pop("version"), changes.pop("reason", "")
        return Answer(shows.render(do(call.caller.actor, call.path["name"], version, changes, reason)))

    return handle


def show(model: type[Group | Slice | Marker | Action], shows: Resource, key: str) -> Handler:
    """The handler that shows one row by its key in the path."""

    def handle(call: Call) -> Answer:
        value = next(iter(call.path.values()))
        row = model._default_manager.select_related(*shows.related).filter(**{key: value}).first()
        if row is None:
            raise missing(model, key, value)
        return Answer(shows.render(row))

    return handle


def show_overview(_call: Call) -> Answer:
    return Answer(overview(clock.now()))


def halt(call: Call) -> Answer:
    return _halted(operations.halt(call.caller.actor, **call.body))


def unhalt(call: Call) -> Answer:
    return _halted(operations.unhalt(call.caller.actor, **call.body))


def _halted(installation: Any) -> Answer:
    return Answer({"halted": installation.halted_since is not None, "version": installation.version})


def put_demand(call: Call) -> Answer:
    """The whole pending list: `{"jobs": [...]}`, or the bare list where it holds any job.

    A bare `[]` is what a scheduler sends that failed to ask its own queue; it would cancel everything of the source.
    """
    source = call.path["source"]
    confine(call.caller.source, source, "demand source")
    body = call.body
    if isinstance(body, dict):
        operations.DEMAND_FIELDS.read(body)
        body = body["jobs"]
    elif body == []:
        raise Problem(400, 'expected {"jobs": [...]}, got []; {"jobs": []} cancels every job of the source')
    return Answer(operations.put_demand(call.caller.actor, source, body).as_json())


def put_job(call: Call) -> Answer:
    source, job_id = _named(call)
    return Answer(JOB.render(operations.put_job(call.caller.actor, source, job_id, call.body)))


def show_job(call: Call) -> Answer:
    return Answer(JOB.render(operations.find_job(call.path["job"], call.caller.source)))


def delete_job(call: Call) -> Answer:
    job = operations.find_job(call.path["job"], call.caller.source)
    return Answer(JOB.render(operations.delete_job(call.caller.actor, job.source, job.job_id)))


def _named(call: Call) -> tuple[str, str]:
    """(source, job id) of a job that may not exist yet: a scheduler's own source is implied."""
    name, own = call.path["job"], call.caller.source
    source, colon, job_id = name.partition(":")
    if own is not None:
        if colon and source != own and operations.is_source(source):
            # An id may have a colon in it, but this one reads as another scheduler's job.
            words = f'this token is confined to the demand source "{own}"'
            raise Problem(403, f"{words}; for an id of its own write /jobs/{own}:{name[:60]}")
        return own, name.removeprefix(f"{own}:")
    if call.caller.role == SCHEDULER or not colon:
        raise Problem(400, f'expected /jobs/<source>:<id>, got "{name[:60]}"')
    return source, job_id


def heartbeat(call: Call) -> Answer:
    confine(call.caller.worker, call.path["name"], "worker")
    return Answer(WORKER.render(operations.heartbeat(call.caller.actor, call.path["name"], **call.body)))


def create_token(call: Call) -> Answer:
    token, secret = operations.create_token(call.caller.actor, **call.body)
    return Answer({"token": TOKEN.render(token), "secret": secret}, status=201)
