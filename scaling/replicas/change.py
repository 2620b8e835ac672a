"""Steps 2 to 4 and 9: by how many healthy replicas the deployment changes in this tick."""

from collections.abc import Callable
from dataclasses import dataclass

from scaling.replicas.decision import Limit, LimitCode, Step
from scaling.replicas.deployment import PauseDirection
from scaling.replicas.tick import Tick
from scaling.replicas.zero import wakes


@dataclass(frozen=True, slots=True)
class Change:
    """Replicas to add (positive) or healthy ones to remove (negative), by which step, and how it came."""

    step: Step
    count: int
    limits: tuple[Limit, ...]


def health_first(tick: Tick) -> tuple[Step, int] | None:
    """Steps 2 to 4: the first that has something to do, and is not paused, moves capacity in this tick."""
    for step, direction, change in HEALTH_STEPS:
        count = change(tick)
        if count and not tick.paused(direction):
            return step, count
    return None


def forced_change(step: Step, count: int, tick: Tick, desired: int) -> Change:
    """Health comes first: the load acts in the next tick."""
    limit = Limit(LimitCode.HEALTH_FIRST, desired - tick.healthy, count)
    return Change(step, count, (limit,))


def load_change(tick: Tick, desired: int, top: int) -> Change:
    """Step 9: run what the load wants through `CHANGE_LIMITS`, in order; `top` is the window's maximum."""
    value = desired - tick.healthy
    limits: list[Limit] = []
    for code, limiter in CHANGE_LIMITS:
        if value == 0:  # no limiter makes something of nothing
            limits += _NOTHING_TO_LIMIT[len(limits) :]
            break
        limited = limiter(tick, value, top)
        limits.append(Limit(code, value, limited))
        value = limited
    step = Step.LOAD if desired else Step.ZERO
    return Change(step if value else Step.NONE, value, tuple(limits))


def _bootstrap(tick: Tick) -> int:
    nothing_there = tick.healthy + tick.warming + tick.unhealthy == 0
    return tick.floor if nothing_there else 0


def _floor(tick: Tick) -> int:
    return max(0, tick.floor - tick.healthy - tick.warming)


def _ceiling(tick: Tick) -> int:
    """One healthy replica too many. The last one stays while warming ones are the surplus, unless max is 0.

    (Only the zero rule goes below one: what is warming serves nobody yet.)
    """
    highest = tick.deployment.max_replicas
    is_over = tick.healthy + tick.warming > highest
    spares_enough = tick.healthy > highest or tick.healthy > max(tick.floor, 1)
    return -1 if is_over and spares_enough else 0


HEALTH_STEPS: tuple[tuple[Step, PauseDirection, Callable[[Tick], int]], ...] = (
    (Step.BOOTSTRAP, PauseDirection.UP, _bootstrap),
    (Step.FLOOR, PauseDirection.UP, _floor),
    (Step.WAKE, PauseDirection.UP, lambda tick: int(wakes(tick))),
    (Step.CEILING, PauseDirection.DOWN, _ceiling),
)


def _window(tick: Tick, value: int, top: int) -> int:
    return 0 if value < 0 and top >= tick.healthy else value


def _coming(tick: Tick, value: int, _top: int) -> int:
    return max(0, value - tick.warming) if value > 0 else value


def _surge_cap(tick: Tick, value: int, _top: int) -> int:
    """Unhealthy ones that stay are paid for too: with them, never more than one above the maximum."""
    if value <= 0:
        return value
    staying = tick.healthy + tick.warming + tick.unhealthy - tick.clears_unhealthy
    return max(0, min(value, tick.deployment.max_replicas + 1 - staying))


def _scale_up_limit(tick: Tick, value: int, _top: int) -> int:
    limit = tick.deployment.scale_up_limit
    return value if limit is None else min(value, limit)


def _stopped_up(value: int, stopped: bool) -> int:
    return 0 if stopped and value > 0 else value


def _paused_down(tick: Tick, value: int, _top: int) -> int:
    return 0 if value < 0 and tick.paused(PauseDirection.DOWN) else value


def _lifecycle(tick: Tick, value: int, _top: int) -> int:
    """The last one is the zero rule's, and that may be somebody else's to run."""
    takes_last = value < 0 and tick.healthy + value == 0
    return 0 if takes_last and not tick.takes_last else value


CHANGE_LIMITS: tuple[tuple[LimitCode, Callable[[Tick, int, int], int]], ...] = (
    (LimitCode.LIFECYCLE, _lifecycle),
    (LimitCode.OPERATOR_ZERO, lambda tick, value, _top: _stopped_up(value, tick.held_at_zero)),
    (LimitCode.PAUSED_UP, lambda tick, value, _top: _stopped_up(value, tick.paused(PauseDirection.UP))),
    (LimitCode.PAUSED_DOWN, _paused_down),
    (LimitCode.WINDOW, _window),
    (LimitCode.COMING, _coming),
    (LimitCode.SURGE_CAP, _surge_cap),
    (LimitCode.SCALE_UP_LIMIT, _scale_up_limit),
    (LimitCode.ONE_PER_TICK, lambda _tick, value, _top: max(value, -1)),
    (LimitCode.COOLDOWN, lambda tick, value, _top: 0 if tick.cooling else value),
)
_NOTHING_TO_LIMIT = tuple(Limit(code, 0, 0) for code, _ in CHANGE_LIMITS)
