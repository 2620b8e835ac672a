"""One job by itself: asked for, changed, cancelled, found."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from scaling import clock
from scaling.history import Actor, record
from scaling.models import ApiToken, Job
from scaling.operations import announce
from scaling.operations.acts import ActKind
from scaling.operations.demand import UNFINISHED, carry_out, known_jobs, serialize
from scaling.operations.errors import InvalidRequest, NotFound, OperationRefused
from scaling.operations.inputs import shown
from scaling.operations.job_changes import wants_change
from scaling.operations.job_requests import JOB_ID, SOURCE_FIELDS, JobReader, JobRequest


def put_job(actor: Actor, source: str, job_id: str, values: Mapping[str, Any]) -> Job:
    """Ask for one job of `source`, or change it; the rest of the source's list stays. `values`: `JOB_FIELDS`.

    Idempotent, with the meaning that a list of demand has.
    """
    source = SOURCE_FIELDS.read({"source": source})["source"]
    try:
        job_id = JOB_ID.read(job_id)
    except ValueError as wrong:
        raise InvalidRequest(str(wrong), "id") from None
    request, faults = JobReader().read(values, job_id=job_id)
    if request is None:
        raise InvalidRequest.of(faults)
    with transaction.atomic():
        serialize(source)
        _put(actor, source, request)
    return Job.objects.select_related("hint").get(source=source, job_id=job_id)


def _put(actor: Actor, source: str, request: JobRequest) -> None:
    now = clock.now()
    known = known_jobs(Job.objects.filter(source=source, job_id=request.job_id)).get(request.job_id)
    if known is None:
        touched, what = carry_out(source, [request], {}, [], now), "added"
    elif wants_change(known, request, now):
        touched, what = carry_out(source, [], {known.pk: request}, [], now), "changed"
    else:
        return
    after = {"result": what, "priority": request.priority, "spec": dict(request.spec.fields)}
    record(ActKind.PUT_JOB, actor=actor, job=request.job_id, target=f"source {source}", after=after)
    announce.demand(source, {what: 1}, touched)


@transaction.atomic
def delete_job(actor: Actor, source: str, job_id: str, reason: str = "") -> Job:
    """Cancel a job that is not finished; its tasks end. Its row stays, for its page and for what is asked later.

    Of a job that is cancelled already this changes nothing: the request may be sent again for want of an answer.
    """
    serialize(source)
    job = Job.objects.filter(source=source, job_id=job_id).first()
    if job is None:
        raise NotFound(f"source {source} has no job {shown(job_id)}")
    if job.state == Job.State.CANCELLED:
        return job
    if job.state not in UNFINISHED:
        raise OperationRefused(f"job {job_id} is {job.state} already", "id")
    touched = carry_out(source, [], {}, [job.pk], clock.now())
    if not touched:
        raise OperationRefused(f"job {job_id} ended at this moment", "id")
    before = {"state": job.state, "pending_tasks": job.pending_tasks, "running_tasks": job.running_tasks}
    target = f"source {source}"
    record(ActKind.CANCEL_JOB, actor=actor, job=job_id, target=target, reason=reason, before=before)
    announce.demand(source, {"cancelled": 1}, touched)
    return touched[0]


def is_source(name: str) -> bool:
    """Whether a scheduler of that name is known: it has put jobs, or has a token to put some."""
    if Job.objects.filter(source=name).exists():
        return True
    return ApiToken.objects.filter(role=ApiToken.Role.SCHEDULER, scope=name).exists()


def find_job(name: str, source: str | None = None) -> Job:
    """The job that `name` means: `<source>:<id>`, or the id alone where it is unique. `source` confines the search."""
    known = Job.objects.select_related("hint")
    if source is not None:
        known = known.filter(source=source)
    same = list(known.filter(job_id=name)[:2])
    if len(same) == 1:
        return same[0]
    owner, colon, job_id = name.partition(":")
    exact = known.filter(source=owner, job_id=job_id).first() if colon else None
    if exact is not None:
        return exact
    if same:
        raise OperationRefused(f"several sources have a job {shown(name)}: expected <source>:<id>", "id")
    raise NotFound(f"there is no job {shown(name)}")
