"""Tells the feed what an act changed; each function lists the topics whose readers show that thing."""

from collections.abc import Iterable

from scaling import feed
from scaling.models import Group, Job, Marker, Platform, QuotaPool, Slice


def group(row: Group) -> None:
    _publish(["groups", f"group:{row.name}", "overview"], "group", {"name": row.name, "version": row.version})


def slice_(row: Slice) -> None:
    topics = ["slices", f"slice:{row.name}"] + ([f"group:{row.group.name}"] if row.group else [])
    _publish(topics, "slice", {"name": row.name, "state": row.state})


def marker(row: Marker) -> None:
    payload = {"id": row.pk, "group": row.group.name, "kind": row.kind, "version": row.version}
    _publish(["markers", "groups", f"group:{row.group.name}", "overview"], "marker", payload)


def pool(row: QuotaPool) -> None:
    members = [f"group:{name}" for name in row.groups.values_list("name", flat=True)]
    _publish(["groups", "overview", *members], "pool", {"name": row.name, "version": row.version})


def platform(row: Platform) -> None:
    _publish(["platforms", "overview"], "platform", {"name": row.name, "mode": row.mode})


def halt(halted: bool) -> None:
    _publish(["platforms", "overview"], "halt", {"halted": halted})


def demand(source: str, counts: dict[str, int], touched: Iterable[Job]) -> None:
    """One event for the lists, and one for each job that a page may be open on."""
    events = [feed.NewEvent(topic, "demand", {"source": source, **counts}) for topic in ("jobs", "overview")]
    for job in touched:
        topic = f"job:{job.source}/{job.job_id}"[:220]
        events.append(feed.NewEvent(topic, "job", {"source": job.source, "id": job.job_id, "state": job.state}))
    feed.publish_many(events)


def _publish(topics: Iterable[str], kind: str, payload: dict[str, object]) -> None:
    feed.publish_many([feed.NewEvent(topic, kind, payload) for topic in topics])
