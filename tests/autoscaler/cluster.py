"""Clusters for tests of the group autoscaler, written the way scenario files are."""

from collections import Counter
from typing import Any

from scaling.scenarios.cluster_reading import parse_cluster_scenario
from scaling.scenarios.cluster_report import report
from scaling.scenarios.cluster_runner import run_cluster_scenario

Mapping = dict[str, Any]


class Played:
    """What a scenario came to, read with few words."""

    def __init__(self, output: Mapping) -> None:
        self.output = output

    def group(self, name: str, cycle: int = 0) -> Mapping:
        found: Mapping = self.output["cycles"][cycle]["groups"][name]
        return found

    def outcome(self, name: str, cycle: int = 0) -> str:
        return str(self.group(name, cycle)["outcome"])

    def up(self, name: str, cycle: int = 0) -> int:
        return int(self.group(name, cycle)["scale_up"])

    def ups(self, name: str) -> list[int]:
        return [self.up(name, cycle) for cycle in range(len(self.output["cycles"]))]

    def down(self, name: str, cycle: int = 0) -> list[str]:
        return list(self.group(name, cycle)["scale_down"])

    def outcomes(self, name: str) -> list[str]:
        return [self.outcome(name, cycle) for cycle in range(len(self.output["cycles"]))]

    def hints(self, cycle: int = 0) -> dict[str, Mapping]:
        return {hint["job_id"]: hint for hint in self.output["cycles"][cycle]["hints"]}

    def code(self, job: str, cycle: int = 0) -> str | None:
        hint = self.hints(cycle).get(job)
        return None if hint is None else str(hint["code"])

    def reason(self, job: str, cycle: int = 0) -> str:
        return str(self.hints(cycle)[job]["reason"])

    def kinds(self, cycle: int = 0) -> Counter[str]:
        return Counter(action["kind"] for action in self.output["cycles"][cycle]["actions"])

    def actions(self, kind: str, cycle: int | None = None) -> list[Mapping]:
        cycles = self.output["cycles"] if cycle is None else [self.output["cycles"][cycle]]
        return [action for item in cycles for action in item["actions"] if action["kind"] == kind]

    def job(self, job: str) -> Mapping:
        found: Mapping = self.output["final"]["jobs"][job]
        return found

    @property
    def totals(self) -> Mapping:
        found: Mapping = self.output["totals"]
        return found

    @property
    def slices(self) -> dict[str, Mapping]:
        return {item["id"]: item for item in self.output["final"]["slices"]}

    @property
    def markers(self) -> dict[tuple[str, str], Mapping]:
        return {(item["group"], item["kind"]): item for item in self.output["final"]["markers"]}


def play(**parts: Any) -> Played:
    """Runs a scenario given by its parts; `cycles` and `every` may stand for `run`."""
    run = {key: parts.pop(key) for key in ("cycles", "every") if key in parts}
    if run:
        parts["run"] = run
    return Played(report(run_cluster_scenario(parse_cluster_scenario(parts))))


def tpu(name: str, variant: str = "v5-8", workers: int = 1, **fields: Any) -> Mapping:
    """A TPU group with room for nine slices of one worker unless told otherwise."""
    return {
        "name": name,
        "device_type": "tpu",
        "device_variant": variant,
        "devices_per_worker": 8,
        "workers_per_slice": workers,
        "max_slices": 9,
    } | fields


def pod(name: str, workers: int = 4, **fields: Any) -> Mapping:
    """A TPU group whose slices have several workers."""
    return tpu(name, f"v5p-{8 * workers}", workers, **({"devices_per_worker": 4} | fields))


def cpu(name: str, cores: float = 8, **fields: Any) -> Mapping:
    return {"name": name, "worker_cpu": cores, "max_slices": 9} | fields


def gpu(name: str, variant: str = "h100", count: int = 8, **fields: Any) -> Mapping:
    kind = {"name": name, "device_type": "gpu", "device_variant": variant, "devices_per_worker": count}
    return kind | {"max_slices": 9} | fields


def job(name: str, tasks: int = 1, resources: Mapping | None = None, **fields: Any) -> Mapping:
    """A job of TPU tasks submitted ten seconds before the start unless told otherwise."""
    return {"id": name, "tasks": tasks, "resources": resources or {"tpu": 1}, "submitted": -10} | fields


def ready(name: str, group: str, idle: float | None = -20, **fields: Any) -> Mapping:
    """A READY slice that has been idle since `idle`; None = its first worker has a task."""
    work = {"active_tasks": 1} if idle is None else {"idle_since": idle}
    return {"id": name, "group": group, "state": "READY", "created": -9000} | work | fields


def booting(name: str, group: str, created: float = -10, **fields: Any) -> Mapping:
    return {"id": name, "group": group, "state": "BOOTING", "created": created} | fields


def marker(group: str, kind: str, since: float = -60, until: float | None = 840, **fields: Any) -> Mapping:
    return {"group": group, "kind": kind, "since": since} | ({} if until is None else {"until": until}) | fields


SLOW = {"boot_seconds": 5000}
STOCKOUT = "There is no more capacity in the zone"
TRANSIENT = "503 SERVICE UNAVAILABLE"
QUOTA = "Quota 'TPUS' exceeded. Limit: 64.0 in region us-east9."
DENIED = "403: Required 'tpu.nodes.create' permission"
TOO_FAST = "Quota exceeded for quota metric 'Create requests' and limit 'Create requests per minute per region'"
