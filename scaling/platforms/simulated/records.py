"""What the simulated cloud writes down: slices, calls, and the rules that script its behaviour. Times: Unix seconds."""

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any, Protocol

from scaling.platforms.base import PlatformWorkerState


class CallKind(StrEnum):
    CREATE = "create"
    DELETE = "delete"
    LIST = "list"


class Answer(StrEnum):
    """How a call ended. Only `accepted` and `listed` had an effect; `unreachable` is an answer that was none."""

    ACCEPTED = "accepted"
    LISTED = "listed"
    EXISTS = "exists"
    NOT_FOUND = "not_found"
    RATE_LIMITED = "rate_limited"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"


class RuleKind(StrEnum):
    """One kind of trouble each; `CloudRule` says which of its fields the kind reads."""

    STOCKOUT = "stockout"
    QUOTA = "quota"
    RATE_LIMIT = "rate_limit"
    REFUSE = "refuse"
    OUTAGE = "outage"
    SLOW = "slow"
    LATE_FAILURE = "late_failure"
    BOOT = "boot"


class Placed(Protocol):
    """What rules are matched against: a request or a slice."""

    @property
    def zone(self) -> str: ...
    @property
    def group(self) -> str: ...
    @property
    def device_variant(self) -> str: ...
    @property
    def quota_pool(self) -> str: ...


@dataclass(frozen=True, slots=True)
class CloudRule:
    """A scripted behaviour. `call`, `zone`, `group`, `variant`, `pool` select: "" = any, `*` and `?` as in a shell.

    - `stockout`, `refuse`: creates are refused with `error` (default: a text that fits);
    - `quota`: at most `amount` devices (workers, where there are none), told as `metric`;
    - `rate_limit`: at most `amount` calls of kind `call` per minute;
    - `outage`: calls get no answer and have no effect; `slow`: effect at once, the answer `seconds` later;
    - `late_failure`: an accepted slice fails `seconds` later with `error`; `boot`: it boots in `seconds`.

    `after`: so many creates that match are accepted first; `remaining`: how often it still applies (None: always);
    it applies at times t with starts_at <= t < ends_at.
    """

    kind: RuleKind
    call: str = ""
    zone: str = ""
    group: str = ""
    variant: str = ""
    pool: str = ""
    metric: str = ""
    amount: int = 0
    seconds: float = 0.0
    error: str = ""
    after: int = 0
    remaining: int | None = None
    starts_at: float = 0.0
    ends_at: float | None = None
    id: int = 0

    def covers(self, placed: Placed) -> bool:
        """Whether its selectors hold for a request or a slice."""
        pairs = (
            (self.zone, placed.zone),
            (self.group, placed.group),
            (self.variant, placed.device_variant),
            (self.pool, placed.quota_pool),
        )
        return all(not pattern or fnmatchcase(value, pattern) for pattern, value in pairs)

    @property
    def selects_all(self) -> bool:
        """Whether it names no zone, group, variant or pool."""
        return not (self.zone or self.group or self.variant or self.pool)

    def on_call(self, kind: CallKind) -> bool:
        """Whether it concerns calls of this kind."""
        return self.call in ("", kind)


@dataclass(frozen=True, slots=True)
class WorkerLoss:
    """A worker that is silent (`UNKNOWN`) or has vanished (`NOT_FOUND`) from `at` until `until` (None: for good)."""

    worker: int
    state: PlatformWorkerState
    at: float
    until: float | None = None

    def holds(self, now: float) -> bool:
        return self.at <= now and (self.until is None or now < self.until)


@dataclass(frozen=True, slots=True)
class BookedSlice:
    """A slice that was accepted. Its state at any time follows from these times (`life`)."""

    id: int
    cloud: str
    name: str
    installation: str
    group: str
    zone: str
    device_type: str
    device_variant: str
    devices_per_worker: int
    workers: int
    capacity_type: str
    quota_pool: str
    accepted_at: float
    worker_ready_at: tuple[float, ...]
    losses: tuple[WorkerLoss, ...] = ()
    fails_at: float | None = None
    error: str = ""
    deleted_at: float | None = None
    gone_at: float | None = None

    @property
    def ready_at(self) -> float:
        return max(self.worker_ready_at, default=self.accepted_at)

    @property
    def devices(self) -> int:
        """What it holds of a quota: devices, or workers where it has none."""
        return self.workers * (self.devices_per_worker or 1)


@dataclass(frozen=True, slots=True)
class BookedCall:
    """One call. `effect_at`: what it did was done; `answered_at` None: the caller never had the answer."""

    id: int
    cloud: str
    kind: CallKind
    slice: str
    installation: str
    group: str
    caller: str
    arrived_at: float
    effect_at: float | None
    answered_at: float | None
    answer: Answer
    error: str


def slice_from_row(row: dict[str, Any]) -> BookedSlice:
    """A stored slice as a record."""
    return BookedSlice(
        **{
            **row,
            "worker_ready_at": tuple(json.loads(row["worker_ready_at"])),
            "losses": losses_from_json(row["losses"]),
        }
    )


def call_from_row(row: dict[str, Any]) -> BookedCall:
    """A stored call as a record."""
    return BookedCall(**{**row, "kind": CallKind(row["kind"]), "answer": Answer(row["answer"])})


def rule_from_row(row: dict[str, Any]) -> CloudRule:
    """A stored rule as a record; the cloud it belongs to is known to who asked."""
    return CloudRule(**{**{key: row[key] for key in row if key != "cloud"}, "kind": RuleKind(row["kind"])})


def losses_to_json(losses: tuple[WorkerLoss, ...]) -> str:
    return json.dumps([asdict(loss) for loss in losses])


def losses_from_json(text: str) -> tuple[WorkerLoss, ...]:
    return tuple(WorkerLoss(**{**item, "state": PlatformWorkerState(item["state"])}) for item in json.loads(text))
