"""Tells the feed what an act changed; each function lists the topics whose readers show that thing.

An event on `group:<name>` reaches the followers of `groups` too, and so for slices, jobs and deployments.
"""

from collections.abc import Iterable, Sequence

from scaling import feed
from scaling.models import Deployment, Group, Job, Marker, Platform, QuotaPool, Slice

JOB_EVENTS = 500


def group(row: Group) -> None:
    _publish([f"group:{row.name}", "overview"], "group", {"name": row.name, "version": row.version})


def slice_(row: Slice) -> None:
    topics = [f"slice:{row.name}"] + ([f"group:{row.group.name}"] if row.group else [])
    _publish(topics, "slice", {"name": row.name, "state": row.state})


def marker(row: Marker) -> None:
    payload = {"id": row.pk, "group": row.group.name, "kind": row.kind, "version": row.version}
    _publish(["markers", f"group:{row.group.name}", "overview"], "marker", payload)


def pool(row: QuotaPool) -> None:
    members = [f"group:{name}" for name in row.groups.values_list("name", flat=True)]
    _publish(["groups", "overview", *members], "pool", {"name": row.name, "version": row.version})


def platform(row: Platform) -> None:
    _publish(["platforms", "overview"], "platform", {"name": row.name, "mode": row.mode})


def deployment(row: Deployment) -> None:
    _publish([f"deployment:{row.deployment_id}"], "deployment", {"id": row.deployment_id, "version": row.version})


def halt(halted: bool) -> None:
    _publish(["platforms", "overview"], "halt", {"halted": halted})


def demand(source: str, counts: dict[str, int], touched: Sequence[Job]) -> None:
    """One event for the lists, and one for each job that a page may be open on.

    A list that changes more than JOB_EVENTS jobs is told as a whole only: a flood of events would tell nobody more.
    """
    told = touched if len(touched) <= JOB_EVENTS else ()
    # An event on a job reaches the lists too; they need their own where no job of a page is named.
    topics = ["overview"] if told and not counts.get("added") else ["jobs", "overview"]
    events = [feed.NewEvent(topic, "demand", {"source": source, **counts}) for topic in topics]
    for job in told:
        payload = {"source": job.source, "id": job.job_id, "state": job.state}
        events.append(feed.NewEvent(feed.job_topic(job.source, job.job_id), "job", payload))
    feed.publish_many(events)


def _publish(topics: Iterable[str], kind: str, payload: dict[str, object]) -> None:
    feed.publish_many([feed.NewEvent(topic, kind, payload) for topic in topics])
