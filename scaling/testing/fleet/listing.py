"""The fleet as the Gateway lists it (docs/gateway.openapi.yaml)."""

from typing import Any

from scaling.testing.fleet.faults import Faults
from scaling.testing.fleet.fleet import Fleet, FleetDeployment, FleetReplica
from scaling.testing.fleet.spec import LISTED_SETTINGS


def listed_fleet(fleet: Fleet, faults: Faults) -> dict[str, Any]:
    """The answer of the list; times are Unix seconds."""
    return {"deployments": [_deployment(it, fleet.at, faults) for it in fleet.deployments.values()]}


def listed_replicas(deployment: FleetDeployment, now: float, faults: Faults) -> list[dict[str, Any]]:
    return [_replica(it) for it in deployment.replicas.values() if it.created <= now - faults.lag_seconds]


def _deployment(deployment: FleetDeployment, now: float, faults: Faults) -> dict[str, Any]:
    spec = deployment.spec
    listed = {name: value for name in LISTED_SETTINGS if (value := getattr(spec, name)) is not None}
    listed["last_request_at"] = deployment.last_request_at
    if not faults.omit_replicas:
        listed["replicas"] = listed_replicas(deployment, now, faults)
    return listed


def _replica(replica: FleetReplica) -> dict[str, Any]:
    return {
        "id": replica.id,
        "status": replica.status,
        "healthy": replica.healthy,
        "created": replica.created,
        "last_health_check": replica.last_health_check,
    }
