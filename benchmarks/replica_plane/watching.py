"""Watches who scales what, all the time, from beside the instances."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Seen:
    """One deployment's scaler at one look; times in Unix seconds, `expires` 0 where there is no lease."""

    holder: str
    token: int
    expires: float
    ticked: float

    def is_held(self, at: float) -> bool:
        return bool(self.holder) and self.expires > at


@dataclass(frozen=True, slots=True)
class Handover:
    """A deployment as its new holder found it."""

    deployment: str
    at: float
    before: Seen
    after: Seen
    memory: Mapping[str, Any]


def read_scalers() -> dict[str, Seen]:
    """Every scaler by its deployment, in one query."""
    from scaling.models import Scaler

    rows = Scaler.objects.values_list("deployment__deployment_id", "holder", "token", "expires_at", "ticked_at")
    return {
        name: Seen(holder, token, expires.timestamp() if expires else 0.0, ticked.timestamp() if ticked else 0.0)
        for name, holder, token, expires, ticked in rows
    }


def read_memories() -> dict[str, dict[str, Any]]:
    from scaling.models import Scaler

    return dict(Scaler.objects.values_list("deployment__deployment_id", "memory"))


@dataclass
class Watch:
    """Looks every 50 ms on a thread of its own, until the block ends.

    `wrong` are the sentences about what must never be seen: a lease taken before the one before it was over, a token
    that does not grow with its holder, an instance over its limit.
    """

    limit: int
    wrong: list[str] = field(default_factory=list)
    handovers: list[Handover] = field(default_factory=list)
    looks: int = 0
    latest: dict[str, Seen] = field(default_factory=dict)

    def __enter__(self) -> "Watch":
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        from django.db import connection

        try:
            while not self._over.wait(LOOK_SECONDS):
                self._look()
        except Exception as error:
            self.wrong.append(f"the watch itself ended: {error!r}")
        finally:
            connection.close()

    def _look(self) -> None:
        seen, at = read_scalers(), time.time()
        moved = [name for name, now in seen.items() if name in self.latest and now.token != self.latest[name].token]
        memories = read_memories() if moved else {}
        for name in moved:
            self._moved(Handover(name, at, self.latest[name], seen[name], memories[name]))
        for name, now in seen.items():
            before = self.latest.get(name)
            if before is not None and now.holder not in ("", before.holder) and now.token <= before.token:
                self.wrong.append(f"{name}: {now.holder} holds it with a token that is not larger")
        for holder, count in Counter(one.holder for one in seen.values() if one.is_held(at)).items():
            if count > self.limit:
                self.wrong.append(f"{holder} holds {count} deployments, more than {self.limit}")
        self.looks += 1
        self.latest = seen

    def _moved(self, one: Handover) -> None:
        self.handovers.append(one)
        before = one.before
        if before.is_held(one.at) and before.holder != one.after.holder:
            self.wrong.append(
                f"{one.deployment}: {one.after.holder} took it {before.expires - one.at:.2f} s before "
                f"{before.holder}'s lease was over"
            )

    def all_held(self, deployments: int, without: str = "") -> bool:
        """Whether every deployment is held now, and none by `without`."""
        now = time.time()
        held = [one for one in self.latest.values() if one.is_held(now) and one.holder != without]
        return len(held) == deployments

    def all_ticked(self, deployments: int, since: float) -> bool:
        return len([one for one in self.latest.values() if one.ticked > since]) == deployments


def until(condition: Callable[[], object], seconds: float) -> float:
    """Wait until it holds; returns how long that took, infinite when it did not come about."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > seconds:
            return float("inf")
        time.sleep(LOOK_SECONDS / 2)
    return time.monotonic() - began
