"""What is wrong with the Gateway or the stand-in on purpose, switched at `/_faults` while it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any


class Route(StrEnum):
    """What may go wrong on its own; `list` covers the replicas of one deployment too."""

    LIST = "list"
    SCALE = "scale"
    PROMETHEUS = "prometheus"


class Fault(StrEnum):
    """What happens to a call; besides these, any status from 400 to 599 answers it, such as `401` or `500`."""

    DOWN = "down"
    SLOW = "slow"
    TRUNCATED = "truncated"
    CUT = "cut"
    EMPTY = "empty"
    LOST = "lost"
    WARNINGS = "warnings"


KNOWN: Mapping[Route, frozenset[Fault]] = {
    Route.LIST: frozenset({Fault.DOWN, Fault.SLOW, Fault.TRUNCATED, Fault.CUT, Fault.EMPTY}),
    Route.SCALE: frozenset({Fault.DOWN, Fault.SLOW, Fault.TRUNCATED, Fault.CUT, Fault.LOST}),
    Route.PROMETHEUS: frozenset(Fault) - {Fault.LOST},
}
"""`down`: the connection is closed without a word. `slow`: answered after `slow_seconds`. `truncated`: half the JSON.
`cut`: the connection breaks off in the middle of it. `empty`: nothing is listed. `lost`: carried out, then as `down`.
`warnings`: the answer carries one."""

LONGEST_SECONDS = 3600.0


class BadFault(ValueError):
    """An order that cannot be followed, in one sentence."""


@dataclass(frozen=True, slots=True)
class Faults:
    """All that is wrong; without any, everything works.

    `checker_down`: no health check is made any more. `omit_replicas`: the list leaves replicas out. `lag_seconds`: a
    replica is listed that long after it was asked for.
    """

    routes: Mapping[Route, str] = field(default_factory=dict)
    slow_seconds: float = 30.0
    checker_down: bool = False
    omit_replicas: bool = False
    lag_seconds: float = 0.0

    def of(self, route: Route) -> str:
        """The fault of a route, empty when it has none."""
        return self.routes.get(route, "")

    def changed(self, order: Any) -> "Faults":
        """With an order's changes: a key that is not in it stays as it is, null ends it. Raises BadFault."""
        if not isinstance(order, dict):
            raise BadFault('expected an object such as {"list": "truncated"}')
        changed = self
        for name, value in order.items():
            changed = changed._with(name, value)
        return changed

    def _with(self, name: str, value: Any) -> "Faults":
        if name in Route._value2member_map_:
            return replace(self, routes={**self.routes, Route(name): _fault(Route(name), value)})
        if name in ("checker_down", "omit_replicas"):
            if value is not None and not isinstance(value, bool):
                raise BadFault(f"{name}: expected true or false, got {value!r}")
            return self._set(name, bool(value))
        if name in ("slow_seconds", "lag_seconds"):
            seconds = getattr(Faults(), name) if value is None else value
            if type(seconds) not in (int, float) or not 0 <= seconds <= LONGEST_SECONDS:
                raise BadFault(f"{name}: expected seconds from 0 to {LONGEST_SECONDS:g}, got {value!r}")
            return self._set(name, float(seconds))
        raise BadFault(f"{name}: expected one of {', '.join(self.as_mapping())}")

    def _set(self, name: str, value: Any) -> "Faults":
        changes: dict[str, Any] = {name: value}
        return replace(self, **changes)

    def as_mapping(self) -> dict[str, Any]:
        """As an order is written."""
        return {
            **{route.value: self.of(route) or None for route in Route},
            "slow_seconds": self.slow_seconds,
            "checker_down": self.checker_down,
            "omit_replicas": self.omit_replicas,
            "lag_seconds": self.lag_seconds,
        }


def _fault(route: Route, value: Any) -> str:
    text = "" if value is None else str(value)
    if text and text not in KNOWN[route] and not (len(text) == 3 and text.isdecimal() and text[0] in "45"):
        raise BadFault(
            f"{route}: expected {', '.join(sorted(KNOWN[route]))} or a status from 400 to 599, got {value!r}"
        )
    return text
