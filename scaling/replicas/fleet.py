"""Whether the health checker is down: many replicas going stale together are its fault, not theirs."""

from collections.abc import Iterable
from dataclasses import dataclass

from scaling.replicas.ages import not_older_from
from scaling.replicas.replica import STATUS_CLASSES, Replica

SMALLEST_FLEET = 10
STALE_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class FleetCheck:
    """How many replicas of the whole fleet are in service, and how many of them have a stale check."""

    replicas: int
    stale: int

    @property
    def unknown(self) -> bool:
        """More than half of at least ten are stale together: nobody's health is known."""
        return self.replicas >= SMALLEST_FLEET and self.stale > self.replicas * STALE_SHARE


def check_fleet(replicas: Iterable[Replica], now: float, check_seconds: float = 60) -> FleetCheck:
    """Count the fleet of all deployments together.

    Failed and draining replicas are out of service and not counted: nobody checks them any more. A replica
    without any check is stale only if it was healthy once; one that never started has nothing to lose.
    """
    fresh_from = not_older_from(check_seconds, now)
    in_service = stale = 0
    for replica in replicas:
        if replica.status in STATUS_CLASSES:
            continue
        in_service += 1
        checked = replica.last_health_check
        stale += replica.was_healthy if checked is None else checked < fresh_from
    return FleetCheck(in_service, stale)
