"""The zero rule: when the last replica may go, and what wakes a deployment that has none."""

from scaling.replicas.ages import age_seconds
from scaling.replicas.tick import Tick


def may_go_to_zero(tick: Tick) -> bool:
    """The last one may go when nothing comes beside it and an idle hour is known, not guessed.

    Requests being served right now contradict an old `last_request_at`; then idleness is not known.
    """
    is_last = tick.floor == 0 and tick.healthy == 1 and tick.warming == 0
    is_idle = tick.requested_recently() is False and tick.evidence.may_lower and not tick.evidence.busy
    first = tick.first_healthy_at
    is_old = first is not None and age_seconds(first, tick.now) >= tick.deployment.zero_after_seconds
    return is_last and is_idle and is_old


def wakes(tick: Tick) -> bool:
    """A request while nothing serves and nothing is coming, unless an operator holds the deployment at zero.

    An unhealthy leftover does not count as there, as it does not count for the floor either.
    """
    at_zero = tick.healthy + tick.warming == 0 and not tick.held_at_zero
    return at_zero and tick.deployment.max_replicas > 0 and tick.requested_recently() is True
