"""The check of the whole fleet's health checks, with what is remembered of its replicas."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from django.conf import settings

from scaling.loops.replicas import roster
from scaling.loops.replicas.fleet_reading import Fleet
from scaling.loops.replicas.held import HeldScaler
from scaling.models import Scaler
from scaling.replicas.fleet import FleetCheck, check_fleet
from scaling.replicas.replica import Replica


def whole_check(fleet: Fleet, held: Sequence[HeldScaler], now: float) -> FleetCheck | None:
    """The check over all replicas that the Gateway lists; None where it lists none.

    One without any check is stale if it was healthy once, and only what is stored tells that: also of deployments that
    other instances hold.
    """
    every = list(_remembered(fleet, held))
    return check_fleet(every, now, settings.LYC.health_check_seconds) if every else None


def _remembered(fleet: Fleet, held: Sequence[HeldScaler]) -> Iterator[Replica]:
    unchecked = {
        id_ for id_, one in fleet.listed.items() if any(it.last_health_check is None for it in one.replicas or ())
    }
    well = _healthy_once(unchecked, held) if unchecked else frozenset()
    for id_, one in fleet.listed.items():
        for it in one.replicas or ():
            yield replace(it, was_healthy=True) if it.last_health_check is None and (id_, it.id) in well else it


def _healthy_once(unchecked: set[str], held: Sequence[HeldScaler]) -> frozenset[tuple[str, str]]:
    """(deployment, replica) of those of `unchecked` deployments that were healthy once."""
    mine = {one.id: one.row.replicas for one in held if one.id in unchecked}
    others = Scaler.objects.filter(deployment__deployment_id__in=unchecked - mine.keys())
    stored: Iterable[tuple[str, list[list[object]]]] = [
        *mine.items(),
        *others.values_list("deployment__deployment_id", "replicas"),
    ]
    return frozenset((id_, it.id) for id_, rows in stored for it in roster.stored(rows) if it.was_healthy)
