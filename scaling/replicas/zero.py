"""The zero rule: when the last replica may go, and what wakes a deployment that has none."""

from scaling.replicas.ages import is_over
from scaling.replicas.tick import Tick


def may_go_to_zero(tick: Tick) -> bool:
    """The last one may go when nothing comes beside it and an idle hour is known, not guessed.

    Requests being served right now contradict an old `last_request_at`; then idleness is not known.
    """
    idle_at = idle_enough_at(tick)
    return idle_at is not None and is_over(idle_at, tick.now)


def idle_enough_at(tick: Tick) -> float | None:
    """When time alone will let the last replica go; None when more than time is in the way."""
    last, first = tick.deployment.last_request_at, tick.first_healthy_at
    is_last = tick.floor == 0 and tick.healthy == 1 and tick.warming == 0
    is_quiet = tick.evidence.may_lower and not tick.evidence.busy
    if not is_last or not is_quiet or last is None or first is None:
        return None
    return min(max(last, first), tick.now) + tick.deployment.zero_after_seconds


def wakes(tick: Tick) -> bool:
    """A request while nothing serves and nothing is coming, unless an operator holds the deployment at zero.

    An unhealthy leftover does not count as there, as it does not count for the floor either.
    """
    at_zero = tick.healthy + tick.warming == 0 and not tick.held_at_zero
    return at_zero and tick.deployment.max_replicas > 0 and tick.requested_recently() is True
