"""The scripted cloud of cluster scenarios: its own books of slices, and how it answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scaling.autoscaler.failure_rules import diagnose_failure
from scaling.autoscaler.models import SeenSlice, SeenWorker, SliceState, WorkerHealth
from scaling.scenarios.cluster_scenario import DEFAULT_BOOT_SECONDS, FailRule


@dataclass(slots=True)
class CloudSlice:
    """A slice in the cloud's books; READY from `ready_at` on, FAILED from `fails_at` on.

    `unconfirmed`: its request was never answered, so that it is not listed until it is ready. `leaving`: it was told to
    go before the scenario began, and is still listed as it was.
    """

    name: str
    group: str
    platform: str
    created: float
    ready_at: float
    fails_at: float | None = None
    error: str = ""
    unconfirmed: bool = False
    worker_lost: bool = False
    ending: bool = False
    leaving: bool = False

    def is_ready(self, now: float) -> bool:
        return self.ready_at <= now and not self.has_failed(now)

    def has_failed(self, now: float) -> bool:
        return self.fails_at is not None and self.fails_at <= now

    def serves(self, now: float) -> bool:
        """Whether tasks can start there."""
        return self.is_ready(now) and not (self.worker_lost or self.ending or self.leaving)

    def state(self, now: float) -> SliceState:
        if self.ending:
            return SliceState.TERMINATING
        if self.has_failed(now):
            return SliceState.FAILED
        return SliceState.READY if self.is_ready(now) else SliceState.BOOTING


class Cloud:
    """Accepts creates unless a rule refuses them; counts what it was asked."""

    def __init__(self, boot_seconds: float = DEFAULT_BOOT_SECONDS, fail_rules: Sequence[FailRule] = ()) -> None:
        self.boot_seconds = boot_seconds
        self.fail_rules = tuple(fail_rules)
        self.slices: dict[str, CloudSlice] = {}
        self.accepted: Counter[str] = Counter()

    def create(self, name: str, group: str, platform: str, now: float) -> str | None:
        """The platform's answer: None when accepted, else its words; the first rule that applies decides."""
        if name in self.slices:
            return f"409: the resource '{name}' already exists"
        rule = next((rule for rule in self.fail_rules if rule.applies(group, self.accepted[group], now)), None)
        says_it_exists = rule is not None and diagnose_failure(rule.error).already_exists
        if rule is not None and rule.late is None and not says_it_exists:
            return rule.error
        self.accepted[group] += 1
        made = self.slices[name] = CloudSlice(name, group, platform, now, now + self.boot_seconds)
        if rule is not None and rule.late is not None:
            made.fails_at, made.error = now + rule.late, rule.error
        return rule.error if rule is not None and says_it_exists else None

    def delete(self, name: str) -> None:
        """Tells a slice to go; it is gone by the next cycle."""
        if name in self.slices:
            self.slices[name].ending = True

    def finish_endings(self) -> None:
        self.slices = {name: item for name, item in self.slices.items() if not (item.ending or item.leaving)}

    def listing(self, platform: str, now: float) -> tuple[SeenSlice, ...]:
        return tuple(
            _seen(item, now)
            for item in self.slices.values()
            if item.platform == platform and not (item.unconfirmed and not item.is_ready(now))
        )

    def next_moment(self, after: float) -> float | None:
        """When the next slice gets ready."""
        coming = (item.ready_at for item in self.slices.values() if item.ready_at > after and not item.ending)
        return min(coming, default=None)


def _seen(item: CloudSlice, now: float) -> SeenSlice:
    return SeenSlice(
        name=item.name,
        state=item.state(now),
        group=item.group,
        created=item.created,
        ready_at=item.ready_at if item.is_ready(now) else None,
        workers=(SeenWorker(0, WorkerHealth.LOST),) if item.worker_lost else (),
        error=item.error if item.has_failed(now) else "",
    )


def started_with(slices: Mapping[str, CloudSlice], boot_seconds: float, fail_rules: Sequence[FailRule]) -> Cloud:
    """A cloud that has some slices already; they count as no creates."""
    cloud = Cloud(boot_seconds, fail_rules)
    cloud.slices.update(slices)
    return cloud
