"""From the list's JSON to records. A half answer is never taken for a whole one: what is not whole is refused."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scaling.replicas.replica import Replica
from scaling.sources.gateway.errors import GatewayMalformed
from scaling.sources.gateway.fields import (
    MOST_SECONDS,
    MOST_TOLERANCE,
    FieldProblem,
    identity,
    optional_number,
    optional_time,
    optional_whole,
    required_flag,
    shown,
    status,
    title,
    unexpected,
    whole,
)
from scaling.sources.gateway.records import ListedDeployment


@dataclass(slots=True)
class Listing:
    """What has been read of the list so far, over all its pages.

    `problems` are sentences, one for each deployment whose replicas are listed wrongly: it has replicas None, so it is
    held still and the others are scaled. `omitted` are the places in `deployments` whose replicas are not listed.
    """

    deployments: list[ListedDeployment] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    omitted: list[int] = field(default_factory=list)
    _seen: dict[str, int] = field(default_factory=dict)

    def read(self, entries: Iterable[Any]) -> None:
        """Add the next deployments; raises GatewayMalformed naming the first place that is wrong."""
        for index, entry in enumerate(entries, start=len(self.deployments)):
            try:
                deployment = self._deployment(entry, index)
            except FieldProblem as problem:
                raise GatewayMalformed(_sentence(problem.inside(f"deployments[{index}]"))) from None
            self.deployments.append(deployment)

    def _deployment(self, entry: Any, index: int) -> ListedDeployment:
        if not isinstance(entry, dict):
            raise unexpected("", "an object", entry)
        deployment_id = identity(entry, "id", "deployment_id")
        first = self._seen.setdefault(deployment_id, index)
        if first != index:
            raise FieldProblem("id", f"{shown(deployment_id)} is already the id of deployments[{first}]")
        return ListedDeployment(
            id=deployment_id,
            name=title(entry, "name") or deployment_id,
            status=status(entry),
            min_replicas=whole(entry, "min_replicas"),
            max_replicas=whole(entry, "max_replicas"),
            target_latency_p95_ms=optional_number(entry, "target_latency_p95_ms"),
            target_rps=optional_number(entry, "target_rps"),
            stabilization_window_seconds=optional_number(
                entry, "stabilization_window", "stabilisation_window", most=MOST_SECONDS
            ),
            cooldown_seconds=optional_number(entry, "cooldown", most=MOST_SECONDS),
            tolerance=optional_number(entry, "tolerance", most=MOST_TOLERANCE),
            scale_up_limit=optional_whole(entry, "scale_up_limit", least=1),
            last_request_at=optional_time(entry, "last_request_at"),
            replicas=self._replicas(entry, index),
        )

    def _replicas(self, entry: Mapping[str, Any], index: int) -> tuple[Replica, ...] | None:
        listed = entry.get("replicas")
        if listed is None:
            self.omitted.append(index)
            return None
        try:
            return read_replicas(listed)
        except FieldProblem as problem:
            self.problems.append(_sentence(problem.inside(f"deployments[{index}].replicas")))
            return None


def _sentence(problem: FieldProblem) -> str:
    return f"The Gateway's list is malformed: {problem}."


def read_replicas(entries: Any) -> tuple[Replica, ...]:
    """The replicas of one deployment, in the list's order; raises FieldProblem, its place beginning `[index]`."""
    if not isinstance(entries, list):
        raise unexpected("", "an array", entries)
    replicas = []
    for index, entry in enumerate(entries):
        try:
            replicas.append(_replica(entry))
        except FieldProblem as problem:
            raise problem.inside(f"[{index}]") from None
    ids = {replica.id for replica in replicas}
    if len(ids) < len(replicas):
        raise FieldProblem("", "the same replica id stands in it twice")
    return tuple(replicas)


def _replica(entry: Any) -> Replica:
    if not isinstance(entry, dict):
        raise unexpected("", "an object", entry)
    return Replica(
        identity(entry, "id", "replica_id"),
        status(entry),
        required_flag(entry, "healthy"),
        optional_time(entry, "created", "created_at"),
        optional_time(entry, "last_health_check", "last_health_check_at"),
    )
