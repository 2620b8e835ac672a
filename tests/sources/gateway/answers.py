"""Entries of the Gateway's list, whole unless a test says otherwise."""

from typing import Any

from scaling.sources.gateway import GatewaySettings


def replica(replica_id: str = "r1", **changed: Any) -> dict[str, Any]:
    whole = {
        "id": replica_id,
        "status": "running",
        "healthy": True,
        "created": "2026-01-01T11:00:00Z",
        "last_health_check": 1767268795,
    }
    return whole | changed


def deployment(deployment_id: str = "d1", *, without: tuple[str, ...] = (), **changed: Any) -> dict[str, Any]:
    whole = {
        "id": deployment_id,
        "name": f"model {deployment_id}",
        "status": "running",
        "min_replicas": 1,
        "max_replicas": 10,
        "target_latency_p95_ms": 500,
        "target_rps": 10.5,
        "stabilization_window": 300,
        "cooldown": 120,
        "tolerance": 0.1,
        "scale_up_limit": None,
        "last_request_at": "2026-01-01T11:59:59.5+00:00",
        "replicas": [replica()],
    }
    return {name: value for name, value in (whole | changed).items() if name not in without}


def settings(address: str, **changed: Any) -> GatewaySettings:
    return GatewaySettings(base_url=address, token="s3cret", **changed)
