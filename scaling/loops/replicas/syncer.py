"""The syncer: the Gateway's list of deployments, kept here; removed only what is surely gone.

A list that failed or was read by half changes nothing. One that suddenly lacks much of what it had is doubted: what it
lacks stays, is shown as such, and leaves only when an operator says so or the list names it again. The few that leave
in the ordinary way are missing from `LISTS_TO_BE_GONE` whole lists in a row.
"""

import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F

from scaling import clock, feed, prepared
from scaling.counting import counted
from scaling.history import NewAction, record_many
from scaling.loops.replicas import source_states
from scaling.loops.replicas.deadlines import Deadline
from scaling.loops.replicas.fleet_reading import Fleet, read_fleet
from scaling.models import CrashedReplica, Deployment
from scaling.sources.gateway import ListedDeployment

logger = logging.getLogger("scaling.replicas")

# The queue ends a task after its own time-out; the list must be written down by then.
ROUND_SECONDS = 12.0
LISTS_TO_BE_GONE = 2
# More than this share, and at least so many, missing at once is doubted.
DOUBTED_SHARE = 0.5
DOUBTED_DEPLOYMENTS = 3
LAST_REQUEST_MOVES = timedelta(minutes=5)
_BATCH = 500
_SETTINGS = (
    "name", "status", "min_replicas", "max_replicas", "target_latency_p95_ms", "target_rps",
    "stabilization_window_seconds", "cooldown_seconds", "tolerance", "scale_up_limit",
)  # fmt: skip
_WRITTEN = (*_SETTINGS, "last_request_at", "absent_since", "absent_lists", "gone_at")


def run(now: datetime) -> None:
    """Read the list and keep what changed."""
    deadline = Deadline(min(ROUND_SECONDS, settings.LYC.gateway_timeout_seconds))
    fleet = read_fleet(deadline.left())
    trouble = fleet.trouble or (fleet.problems[0] if fleet.problems else "")
    if fleet.trouble:
        source_states.note(source_states.GATEWAY, clock.now(), trouble, warnings=None)
        return
    doubt = keep(fleet, now)
    source_states.note(source_states.GATEWAY, clock.now(), trouble, [doubt] if doubt else [])


@transaction.atomic
def keep(fleet: Fleet, now: datetime) -> str:
    """Store a whole list; returns the sentence of doubt where much of what was there is missing from it."""
    # Locked in the order of their keys, as acts lock them: an act in between must not be overwritten.
    rows = Deployment.objects.select_for_update(no_key=True).order_by("pk")
    known = {row.deployment_id: row for row in rows}
    there = {id_: row for id_, row in known.items() if row.gone_at is None}
    missing = [row for id_, row in there.items() if id_ not in fleet.listed]
    doubted = is_doubtful(len(missing), len(there))
    new = [_new(one, now) for id_, one in fleet.listed.items() if id_ not in known]
    back = [row for id_, row in known.items() if id_ in fleet.listed and row.gone_at is not None]
    changed = [known[id_] for id_, one in fleet.listed.items() if id_ in known and _apply(known[id_], one)]
    changed += [row for row in missing if _miss(row, now, doubted)]
    gone = [row for row in missing if row.gone_at is not None]
    Deployment.objects.bulk_create(new, batch_size=_BATCH)
    prepared.update(changed, _WRITTEN)
    CrashedReplica.objects.filter(deployment__in=gone).delete()
    _record([*new, *back], gone, now)
    _announce([*new, *changed])
    if not doubted:
        return ""
    return (
        f"The Gateway lists {counted(len(fleet.listed), 'deployment')} and lacks {len(missing):,} of the "
        f"{len(there):,} known: nothing is removed until it lists them again or an operator forgets them."
    )


def is_doubtful(missing: int, known: int) -> bool:
    """Whether so much is missing at once that the list is to be doubted; an empty one always is."""
    return missing == known > 0 or (missing >= DOUBTED_DEPLOYMENTS and missing > known * DOUBTED_SHARE)


def _new(one: ListedDeployment, now: datetime) -> Deployment:
    row = Deployment(deployment_id=one.id, first_seen_at=now)
    _apply(row, one)
    return row


def _apply(row: Deployment, one: ListedDeployment) -> bool:
    """Put what the list says into the row; whether that changed anything worth writing."""
    said: dict[str, Any] = {name: getattr(one, name) for name in _SETTINGS}
    said |= {"absent_since": None, "absent_lists": 0, "gone_at": None}
    requested = None if one.last_request_at is None else datetime.fromtimestamp(one.last_request_at, UTC)
    if _has_moved(row.last_request_at, requested):
        said["last_request_at"] = requested
    differs = {name: value for name, value in said.items() if getattr(row, name) != value}
    for name, value in differs.items():
        setattr(row, name, value)
    return bool(differs)


def _has_moved(before: datetime | None, now: datetime | None) -> bool:
    """A busy deployment's last request is another one in every list; the ticks read it there, this is the record."""
    if before is None or now is None:
        return before is not now
    return not timedelta(0) <= now - before < LAST_REQUEST_MOVES


def _miss(row: Deployment, now: datetime, doubted: bool) -> bool:
    """Count a list against a deployment that it lacks; whether that changed anything."""
    before = (row.absent_since, row.absent_lists)
    row.absent_since = row.absent_since or now
    # A doubted list counts for nothing, else ten minutes of `[]` would remove a fleet all the same.
    row.absent_lists += 0 if doubted else 1
    if row.absent_lists >= LISTS_TO_BE_GONE:
        row.gone_at = now
    return before != (row.absent_since, row.absent_lists)


def _record(new: Sequence[Deployment], gone: Sequence[Deployment], now: datetime) -> None:
    told = [NewAction("deployment_listed", target=f"deployment {row}", at=now, after=_limits(row)) for row in new]
    told += [
        NewAction(
            "deployment_gone",
            target=f"deployment {row}",
            reason=f"missing from {LISTS_TO_BE_GONE} lists of the Gateway in a row",
            at=now,
        )
        for row in gone
    ]
    record_many(told)
    if new or gone:
        logger.info("deployments synced", extra={"new": len(new), "gone": len(gone)})
    if gone:
        Deployment.objects.filter(pk__in=[row.pk for row in gone]).update(version=F("version") + 1)


def _limits(row: Deployment) -> dict[str, Any]:
    return {
        name: getattr(row, name) for name in ("min_replicas", "max_replicas", "target_latency_p95_ms", "target_rps")
    }


# One event each tells the pages; a whole fleet at once is told as a list.
_EVENTS = 500


def _announce(rows: Sequence[Deployment]) -> None:
    if len(rows) > _EVENTS:
        feed.publish("deployments", "synced", {"deployments": len(rows)})
        return
    feed.publish_many(
        [feed.NewEvent(f"deployment:{row.deployment_id}", "deployment", {"id": row.deployment_id}) for row in rows]
    )
