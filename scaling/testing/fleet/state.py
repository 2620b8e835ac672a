"""The fleet in a file: its replicas, what was changed of its deployments, and when its load began, over a restart."""

import json
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

from scaling.testing.fleet.fleet import Fleet, FleetDeployment, FleetReplica, ReplicaStatus
from scaling.testing.fleet.histogram import EMPTY
from scaling.testing.fleet.spec import CHANGEABLE

FILE_NAME = "fleet-state.json"


class UnreadableState(Exception):
    """The file is not one that was written here; the message says so in a sentence."""


def save(fleet: Fleet, folder: Path) -> None:
    """Write it whole or not at all."""
    state = {
        "began": fleet.began,
        "deployments": {name: _saved(deployment) for name, deployment in fleet.deployments.items()},
    }
    path = folder / FILE_NAME
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(state))
    os.replace(beside, path)


def restore(fleet: Fleet, folder: Path) -> bool:
    """Put back what was saved of the deployments that are still in the fleet; false when nothing was.

    The processes are new ones, so their histograms begin at zero, as a restarted exporter's do.
    """
    path = folder / FILE_NAME
    if not path.exists():
        return False
    try:
        state = json.loads(path.read_text())
        fleet.began = float(state["began"])
        for name, saved in state["deployments"].items():
            if name in fleet.deployments:
                _restore(fleet.deployments[name], saved)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableState(f"{path}: not a saved fleet ({error!r}); remove it to begin anew") from None
    return True


def _saved(deployment: FleetDeployment) -> dict[str, Any]:
    return {
        "next_number": deployment.next_number,
        "last_request_at": deployment.last_request_at,
        "settings": {name: getattr(deployment.spec, name) for name in sorted(CHANGEABLE)},
        "replicas": [_saved_replica(replica) for replica in deployment.replicas.values()],
    }


def _saved_replica(replica: FleetReplica) -> dict[str, Any]:
    return {name: getattr(replica, name) for name in _SAVED}


_OF_THE_PROCESS = frozenset({"counters", "latency_sum_ms", "address", "pid", "hangs"})
_SAVED = tuple(field.name for field in fields(FleetReplica) if field.name not in _OF_THE_PROCESS)


def _restore(deployment: FleetDeployment, saved: dict[str, Any]) -> None:
    deployment.next_number = int(saved["next_number"])
    deployment.last_request_at = saved["last_request_at"]
    for name, value in saved["settings"].items():
        if name in CHANGEABLE:
            setattr(deployment.spec, name, value)
    deployment.counters = EMPTY
    deployment.replicas = {}
    for entry in saved["replicas"]:
        replica = FleetReplica(**{**entry, "status": ReplicaStatus(entry["status"])})
        deployment.replicas[replica.id] = replica
