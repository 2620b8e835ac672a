"""A control plane around a scripted platform: cycles and queued tasks run when the test says so."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from scaling.clock import FrozenClock
from scaling.loops import leases, queue
from scaling.loops.autoscaler import creates, cycle, deletes, listing
from scaling.models import Action, Cycle, Platform, Slice
from scaling.platforms.base import SliceRequest
from scaling.testing import builders
from scaling.testing.scripted_provisioner import ScriptedProvisioner


class Killed(BaseException):
    """The process dies here: nothing catches this, as nothing catches SIGKILL."""


@dataclass
class ControlPlane:
    """`cycle()` runs one cycle and what it queued; `plan()` only the cycle; `drain_queue()` only what was queued."""

    platform: ScriptedProvisioner
    row: Platform
    clock: FrozenClock
    queued: list[tuple[Callable[..., object], tuple[Any, ...]]] = field(default_factory=list)

    def plan(self) -> Cycle:
        held = leases.hold(cycle.LEASE, "test", 15, self.clock())
        assert held is not None
        made = cycle.run_held(held)
        assert made is not None
        return made

    def drain_queue(self) -> None:
        while self.queued:
            task, args = self.queued.pop(0)
            task(*args)

    def cycle(self) -> Cycle:
        made = self.plan()
        self.drain_queue()
        return made

    def later(self, seconds: float) -> None:
        self.clock.advance(seconds)

    def states(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for state in Slice.objects.order_by("state").values_list("state", flat=True):
            counts[state] = counts.get(state, 0) + 1
        return counts

    def actions(self, kind: str) -> list[Action]:
        return list(Action.objects.filter(kind=kind).order_by("id"))

    def killed(self) -> None:
        """What a killed worker leaves: its queued tasks are lost too, the worst case."""
        self.queued.clear()


@pytest.fixture
def iris(frozen_clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, db: None) -> ControlPlane:
    platform = ScriptedProvisioner(now=lambda: frozen_clock().timestamp())
    builders.make_installation(identity="iris-test")
    row = builders.make_platform("scripted", mode=Platform.Mode.ACT)
    plane = ControlPlane(platform, row, frozen_clock)
    for module in (listing, creates, deletes):
        monkeypatch.setattr(module, "provisioner", lambda _platform: platform)
    monkeypatch.setattr(queue, "enqueue", lambda task, *args, **_: plane.queued.append((task, args)))
    for module in (creates, deletes):
        monkeypatch.setattr(module, "enqueue", lambda task, *args, **_: plane.queued.append((task, args)))
    for module in (creates, deletes):
        # Threads would have connections of their own, outside the test's transaction.
        monkeypatch.setattr(module.calls, "side_by_side", lambda call, items: ((item, call(item)) for item in items))
    monkeypatch.setattr(cycle, "list_platforms", _inline)
    return plane


def _inline(rows: list[Platform], identity: str) -> dict[str, Any]:
    return {row.name: listing.list_one(row, identity) for row in rows}


def listed(iris: ControlPlane, row: Slice) -> None:
    """The platform lists a slice that the database holds."""
    iris.platform.create_slice(
        SliceRequest(
            row.name, row.group.name, "iris-test", row.group.zone, "tpu", "v5p-8", 4, row.workers.count(), "on_demand"
        )
    )
    iris.platform.make_ready(row.name)
