"""The fleet as it runs: time passes, replicas follow, metrics are recorded, and calls meet it one at a time."""

import logging
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scaling.testing.fleet.faults import Faults
from scaling.testing.fleet.fleet import Fleet, Spell
from scaling.testing.fleet.history import History
from scaling.testing.fleet.listing import listed_fleet, listed_replicas
from scaling.testing.fleet.log import ScaleLog
from scaling.testing.fleet.processes import ReplicaProcesses
from scaling.testing.fleet.scale_order import ScaleOrder
from scaling.testing.fleet.spec import CHANGEABLE
from scaling.testing.fleet.state import save

logger = logging.getLogger(__name__)
SAVE_EVERY_SECONDS = 5.0
# A fleet without processes may be large, and its file with it.
SAVE_VIRTUAL_EVERY_SECONDS = 60.0


class BadChange(ValueError):
    """A test's order that cannot be followed, in one sentence."""


@dataclass(slots=True)
class Parts:
    """What a running fleet is made of; `processes` None is the virtual mode."""

    fleet: Fleet
    history: History
    log: ScaleLog
    folder: Path
    processes: ReplicaProcesses | None


class RunningFleet:
    """May be called from any thread; times are Unix seconds."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.RLock()
        self._saved_at = 0.0
        self.faults = Faults()

    def step(self) -> None:
        """Let time pass up to now."""
        with self._lock:
            parts = self._parts
            parts.fleet.checker_is_down = self.faults.checker_down
            parts.fleet.advance(time.time())
            if parts.processes:
                parts.processes.follow(parts.fleet)
            parts.history.record(parts.fleet)
            every = SAVE_EVERY_SECONDS if parts.processes else SAVE_VIRTUAL_EVERY_SECONDS
            if parts.fleet.at - self._saved_at >= every:
                self._save()

    def close(self) -> None:
        with self._lock:
            self._save()
            self._parts.log.close()
            if self._parts.processes:
                self._parts.processes.close()

    def _save(self) -> None:
        save(self._parts.fleet, self._parts.folder)
        self._saved_at = self._parts.fleet.at

    @property
    def history(self) -> History:
        return self._parts.history

    @property
    def lock(self) -> threading.RLock:
        """Held while the history is read."""
        return self._lock

    def listed(self) -> dict[str, Any]:
        with self._lock:
            return listed_fleet(self._parts.fleet, self.faults)

    def listed_replicas(self, deployment_id: str) -> list[dict[str, Any]]:
        """Raises UnknownDeployment."""
        with self._lock:
            return listed_replicas(self._parts.fleet.find(deployment_id), self._parts.fleet.at, self.faults)

    def scale(self, order: ScaleOrder) -> list[str]:
        """Carry it out; the ids of the new replicas. Raises UnknownDeployment."""
        with self._lock:
            started = self._parts.fleet.scale(order.deployment_id, order.replicas_to_add, order.replica_ids_to_stop)
            if self._parts.processes:
                self._save()
        logger.info(
            "scaled",
            extra={"deployment": order.deployment_id, "add": started, "stop": list(order.replica_ids_to_stop)},
        )
        return started

    def note(self, call: Any, status: str, started: list[str]) -> None:
        """Write a call to scale into the log."""
        with self._lock:
            self._parts.log.add(time.time(), call, status, started)

    def calls_since(self, number: int) -> list[dict[str, Any]]:
        with self._lock:
            return self._parts.log.since(number)

    def targets(self) -> list[dict[str, Any]]:
        """What Prometheus is to scrape, as its HTTP service discovery reads it."""
        with self._lock:
            replicas = [it for one in self._parts.fleet.deployments.values() for it in one.replicas.values()]
            addresses = [it.address for it in replicas if it.address and it.pid]
        return [{"targets": addresses, "labels": {}}] if addresses else []

    def state(self) -> dict[str, Any]:
        """Everything a test may want to see, replica by replica."""
        with self._lock:
            return {
                "at": self._parts.fleet.at,
                "deployments": {
                    name: {
                        "felt_rps": one.felt_rps,
                        "requests": one.counters[-1],
                        "replicas": {
                            it.id: {"status": it.status, "healthy": it.healthy, "address": it.address, "pid": it.pid}
                            for it in one.replicas.values()
                        },
                    }
                    for name, one in self._parts.fleet.deployments.items()
                },
            }

    def change(self, deployment_id: str, changes: dict[str, Any]) -> None:
        """Change what is listed of a deployment. Raises UnknownDeployment, BadChange."""
        if unknown := sorted(set(changes) - CHANGEABLE):
            raise BadChange(f"{unknown[0]}: expected one of {', '.join(sorted(CHANGEABLE))}")
        with self._lock:
            spec = self._parts.fleet.find(deployment_id).spec
            for name, value in changes.items():
                setattr(spec, name, value)
            self._save()

    def cast(self, deployment_id: str, replica_id: str, spell: str) -> None:
        """Do something to a replica. Raises UnknownDeployment, BadChange."""
        if spell not in Spell._value2member_map_:
            raise BadChange(f"do: expected one of {', '.join(Spell)}, got {spell!r}")
        with self._lock:
            if not self._parts.fleet.cast(deployment_id, replica_id, Spell(spell)):
                raise BadChange(f"replica_id: there is no {replica_id!r} in {deployment_id!r}")
