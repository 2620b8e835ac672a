"""Which entries of a replica scenario's timeline hold at a tick."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scaling.replicas.ages import is_over
from scaling.replicas.memory import ScalerMemory
from scaling.scenarios.replica_scenario import Entry, GatewayAnswer


class Timeline:
    """The timeline as the ticks pass; entries are in order of time, and of those that hold the last wins."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._waiting = tuple(entries)
        self._starting: tuple[Entry, ...] = ()
        self._ended: tuple[Entry, ...] = ()
        self.holding: tuple[Entry, ...] = ()
        self._before: dict[int, dict[str, Any]] = {}

    def advance(self, now: float) -> None:
        """Go on to the tick at `now`."""
        self._starting = tuple(entry for entry in self._waiting if is_over(entry.at, now))
        self._waiting = self._waiting[len(self._starting) :]
        begun = (*self.holding, *self._starting)
        self._ended = tuple(entry for entry in begun if _has_ended(entry, now))
        self.holding = tuple(entry for entry in begun if not _has_ended(entry, now))

    @property
    def settings(self) -> dict[str, Any]:
        """What changes of the deployment's settings."""
        return {name: value for entry in self.holding for name, value in entry.settings.items()}

    @property
    def gateway(self) -> GatewayAnswer:
        """How POST /scale is answered; an entry without `for` is about one tick, its first."""
        once = [entry for entry in self._starting if entry.until is None]
        lasting = [entry for entry in self.holding if entry.until is not None]
        answers = [entry.gateway for entry in (*lasting, *once) if entry.gateway is not None]
        return answers[-1] if answers else GatewayAnswer.OK

    def changed_memory(self, memory: ScalerMemory) -> ScalerMemory:
        """The memory with what entries set in it at their first tick; with `for` it is taken back at the end."""
        for entry in self._ended:
            memory = replace(memory, **self._before.pop(entry.number, {}))
        for entry in self._starting:
            if entry.memory and entry in self.holding:
                self._before[entry.number] = {name: getattr(memory, name) for name in entry.memory}
                memory = replace(memory, **entry.memory)
        return memory


def _has_ended(entry: Entry, now: float) -> bool:
    return entry.until is not None and is_over(entry.until, now)
