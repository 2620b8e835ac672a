"""Step 7: how many replicas are desired, limiter by limiter."""

from collections.abc import Callable
from dataclasses import dataclass

from scaling.replicas.decision import Limit, LimitCode
from scaling.replicas.metrics import SLACK, replicas_for
from scaling.replicas.tick import Tick
from scaling.replicas.zero import may_go_to_zero, wakes


@dataclass(frozen=True, slots=True)
class Wish:
    """The number desired, the entry for the window (H where missing data made it hold) and how it came."""

    desired: int
    for_window: int
    limits: tuple[Limit, ...]


def wish_for(tick: Tick) -> Wish:
    """Run what the load asks for through `WISH_LIMITS`, in order."""
    value = _asked_by_load(tick)
    held = tick.evidence.unknown
    limits = []
    for code, limiter in WISH_LIMITS:
        limited = limiter(tick, value)
        limits.append(Limit(code, value, limited))
        held |= code is LimitCode.MISSING_DATA and limited != value
        value = limited
    return Wish(value, tick.healthy if held else value, tuple(limits))


def _asked_by_load(tick: Tick) -> int:
    """Without a ratio or without a healthy replica there is nothing to scale by: what is there."""
    ratio = tick.evidence.ratio
    return tick.healthy if ratio is None or tick.healthy == 0 else replicas_for(tick.healthy, ratio)


def is_within_tolerance(tick: Tick) -> bool:
    """Both edges are inside, binary noise included."""
    ratio = tick.evidence.ratio
    return ratio is not None and abs(ratio - 1) <= tick.deployment.tolerance + SLACK


def _tolerance(tick: Tick, value: int) -> int:
    return tick.healthy if is_within_tolerance(tick) else value


def _missing_data(tick: Tick, value: int) -> int:
    return value if tick.evidence.may_lower else max(value, tick.healthy)


def _last_replica(tick: Tick, value: int) -> int:
    """Only the zero rule goes below one, so a maximum of 0 is left to the ceiling."""
    return max(value, 1) if tick.healthy else value


def _zero(tick: Tick, value: int) -> int:
    return 0 if value <= 1 and may_go_to_zero(tick) else value


def _wake(tick: Tick, value: int) -> int:
    return max(value, 1) if wakes(tick) else value


WISH_LIMITS: tuple[tuple[LimitCode, Callable[[Tick, int], int]], ...] = (
    (LimitCode.TOLERANCE, _tolerance),
    (LimitCode.MISSING_DATA, _missing_data),
    (LimitCode.MIN_REPLICAS, lambda tick, value: max(value, tick.floor)),
    (LimitCode.MAX_REPLICAS, lambda tick, value: min(value, tick.deployment.max_replicas)),
    (LimitCode.LAST_REPLICA, _last_replica),
    (LimitCode.ZERO, _zero),
    (LimitCode.WAKE, _wake),
)
