"""The body of POST /scale, checked as docs/gateway.openapi.yaml has it."""

from dataclasses import dataclass
from typing import Any

MOST_REPLICAS = 1000


class BadOrder(ValueError):
    """A body that is not one, in one sentence."""


@dataclass(frozen=True, slots=True)
class ScaleOrder:
    """Start so many, stop these."""

    deployment_id: str
    replicas_to_add: int
    replica_ids_to_stop: tuple[str, ...]


def read_order(body: Any) -> ScaleOrder:
    """Raises BadOrder naming the field."""
    if not isinstance(body, dict):
        raise BadOrder("expected an object")
    name, add, stop = (body.get(key) for key in ("deployment_id", "replicas_to_add", "replica_ids_to_stop"))
    if not isinstance(name, str) or not name:
        raise BadOrder("deployment_id: expected a text")
    if type(add) is not int or not 0 <= add <= MOST_REPLICAS:
        raise BadOrder(f"replicas_to_add: expected a whole number from 0 to {MOST_REPLICAS}")
    if not isinstance(stop, list) or not all(isinstance(each, str) for each in stop):
        raise BadOrder("replica_ids_to_stop: expected an array of texts")
    return ScaleOrder(name, add, tuple(stop))
