"""The levers of a simulated cloud: what a test, the demonstration or `manage.py cloud` makes happen."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from scaling.platforms.base import PlatformError, PlatformWorkerState
from scaling.platforms.simulated.ledger import Ledger
from scaling.platforms.simulated.records import BookedSlice, CallKind, CloudRule, RuleKind, WorkerLoss
from scaling.platforms.simulated.store import Store


@dataclass(frozen=True, slots=True)
class CloudScript:
    """Scripts one cloud; rules last until `for_seconds` have passed, or for good."""

    store: Store
    cloud: str
    now: Callable[[], float] = time.time

    def add(self, rule: CloudRule) -> int:
        """Any rule; returns its id. The methods below make the usual ones."""
        with self.store.write() as transaction:
            return Ledger(transaction, self.cloud).add_rule(rule)

    def stock_out(
        self, zone: str = "", group: str = "", variant: str = "", for_seconds: float | None = None, error: str = ""
    ) -> int:
        """Nothing more to be had there."""
        rule = CloudRule(RuleKind.STOCKOUT, zone=zone, group=group, variant=variant, error=error)
        return self._from_now(rule, for_seconds)

    def set_quota(self, amount: int, pool: str = "", zone: str = "", group: str = "", metric: str = "") -> int:
        """At most so many devices over the slices it covers."""
        return self._from_now(
            CloudRule(RuleKind.QUOTA, amount=amount, pool=pool, zone=zone, group=group, metric=metric)
        )

    def limit_rate(self, per_minute: int, call: CallKind = CallKind.CREATE) -> int:
        """At most so many calls of that kind per minute."""
        return self._from_now(CloudRule(RuleKind.RATE_LIMIT, call=call.value, amount=per_minute))

    def refuse(self, error: str = "", group: str = "", count: int | None = None, after: int = 0) -> int:
        """Refuse creates, `after` so many accepted ones, at most `count` times."""
        return self._from_now(CloudRule(RuleKind.REFUSE, group=group, error=error, remaining=count, after=after))

    def break_calls(
        self, call: CallKind | None = None, count: int | None = None, for_seconds: float | None = None, error: str = ""
    ) -> int:
        """Calls get no answer and have no effect."""
        return self._from_now(CloudRule(RuleKind.OUTAGE, call=call or "", remaining=count, error=error), for_seconds)

    def slow_down(self, seconds: float, call: CallKind | None = None, count: int | None = None) -> int:
        """Calls take effect at once and are answered that much later."""
        return self._from_now(CloudRule(RuleKind.SLOW, call=call or "", seconds=seconds, remaining=count))

    def fail_late(self, seconds: float, error: str = "", group: str = "", count: int | None = None) -> int:
        """Accepted slices fail so many seconds after acceptance."""
        rule = CloudRule(RuleKind.LATE_FAILURE, seconds=seconds, error=error, group=group, remaining=count)
        return self._from_now(rule)

    def boot_in(self, seconds: float, group: str = "") -> int:
        """Slices accepted from now on are READY after exactly so many seconds."""
        return self._from_now(CloudRule(RuleKind.BOOT, seconds=seconds, group=group))

    def calm(self) -> int:
        """End every rule, also future ones; returns how many."""
        with self.store.write() as transaction:
            return Ledger(transaction, self.cloud).end_rules(self.now())

    # -- single slices; each raises PlatformError when there is no such slice or worker

    def preempt(self, name: str, worker: int = 0) -> None:
        """A worker vanishes for good."""
        self._lose(name, WorkerLoss(worker, PlatformWorkerState.NOT_FOUND, self.now()))

    def silence(self, name: str, seconds: float, worker: int = 0) -> None:
        """A worker is silent for a while."""
        now = self.now()
        self._lose(name, WorkerLoss(worker, PlatformWorkerState.UNKNOWN, now, now + seconds))

    def vanish(self, name: str) -> None:
        """The whole slice is gone at once, as if someone had removed it by hand."""
        with self.store.write() as transaction:
            ledger = Ledger(transaction, self.cloud)
            now = self.now()
            ledger.end_slice(self._named(ledger, name).id, now, now)

    def _lose(self, name: str, loss: WorkerLoss) -> None:
        with self.store.write() as transaction:
            ledger = Ledger(transaction, self.cloud)
            booked = self._named(ledger, name)
            if not 0 <= loss.worker < booked.workers:
                raise PlatformError(f"worker: expected 0 to {booked.workers - 1} of {name}, got {loss.worker}.")
            ledger.set_losses(booked.id, (*booked.losses, loss))

    def _named(self, ledger: Ledger, name: str) -> BookedSlice:
        booked = ledger.named(name, self.now())
        if booked is None:
            raise PlatformError(f"The cloud {self.cloud} has no slice named {name}.")
        return booked

    def _from_now(self, rule: CloudRule, for_seconds: float | None = None) -> int:
        now = self.now()
        return self.add(replace(rule, starts_at=now, ends_at=None if for_seconds is None else now + for_seconds))
