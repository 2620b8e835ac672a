"""The words of a decision: its metrics, its limiters, its steps, and what may come back of its call."""

from scaling.replicas.decision import Gate, LimitCode, Step

METRICS: dict[str, tuple[str, str, str]] = {
    "latency": ("p95 latency", "p95", "ms"),
    "rps": ("Requests", "rps", "requests/s"),
}
"""By metric: its name, the key of its sample among the inputs, its unit."""

ON_WISH = frozenset(
    {
        LimitCode.TOLERANCE, LimitCode.MISSING_DATA, LimitCode.MIN_REPLICAS, LimitCode.MAX_REPLICAS,
        LimitCode.LAST_REPLICA, LimitCode.ZERO, LimitCode.WAKE,
    }
)  # fmt: skip
"""The limiters that act on the number desired; the others act on the change towards it."""

LIMITS: dict[str, tuple[str, str]] = {
    LimitCode.TOLERANCE: ("Tolerance", "a load this near its target changes nothing"),
    LimitCode.MISSING_DATA: ("Missing data", "incomplete metrics may raise, never lower"),
    LimitCode.MIN_REPLICAS: ("Minimum", "never fewer than the minimum"),
    LimitCode.MAX_REPLICAS: ("Maximum", "never more than the maximum"),
    LimitCode.LAST_REPLICA: ("Last replica", "only an idle deployment gives up its last"),
    LimitCode.ZERO: ("Idle to zero", "nobody asked for it long enough"),
    LimitCode.WAKE: ("Wake", "a request while nothing serves"),
    LimitCode.LIFECYCLE: ("Lifecycle", "the lifecycle loop takes the last one"),
    LimitCode.OPERATOR_ZERO: ("Held at zero", "an operator holds it at zero"),
    LimitCode.PAUSED_UP: ("Adding paused", "an operator stopped all adding"),
    LimitCode.PAUSED_DOWN: ("Removing paused", "an operator stopped all removing"),
    LimitCode.WINDOW: ("Stabilization window", "one goes only when the whole window could do without it"),
    LimitCode.COMING: ("Already coming", "those that are coming are not asked for again"),
    LimitCode.SURGE_CAP: ("Room", "with unhealthy ones, at most one above the maximum"),
    LimitCode.SCALE_UP_LIMIT: ("Limit per call", "at most so many in one call"),
    LimitCode.ONE_PER_TICK: ("One at a time", "at most one healthy one goes in a tick"),
    LimitCode.COOLDOWN: ("Cooldown", "a rest after each change by load"),
    LimitCode.HEALTH_FIRST: ("Health first", "health acts in this tick, the load in the next"),
}

GATES: dict[str, str] = {
    Gate.PAUSED: "Paused",
    Gate.STATUS_GATE: "Not running",
    Gate.FLEET_UNKNOWN: "Fleet unknown",
    Gate.LOST_LEASE: "Lease lost",
    Gate.COOLDOWN: "Cooldown",
    Gate.PROMETHEUS_DOWN: "Prometheus down",
    Gate.METRICS_UNAVAILABLE: "Metrics missing",
}

STEPS: dict[str, str] = {
    Step.NONE: "nothing moves",
    Step.BOOTSTRAP: "bootstrap: the first replicas",
    Step.FLOOR: "health floor: up to the minimum",
    Step.WAKE: "wake: a request while at zero",
    Step.CEILING: "ceiling: down to the maximum",
    Step.LOAD: "load",
    Step.ZERO: "idle: the last replica goes",
    Step.MANUAL: "an operator's order",
}
CAME_BACK = {
    "ok": "The Gateway did it.",
    "refused": "The Gateway refused: it counts as not done and is tried again.",
    "timeout": "The call timed out: it counts as done, so that nothing is bought twice.",
    "not_sent": "",
}
