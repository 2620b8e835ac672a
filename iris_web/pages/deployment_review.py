"""What a changed setting of a deployment means: field by field, before it is saved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iris_web.pages.deployment_rows import DeploymentRow
from iris_web.pages.deployment_settings import SOURCES, value_text
from iris_web.pages.deployment_states import doing_of
from iris_web.pages.words import plural
from scaling import clock
from scaling.models import Deployment
from scaling.operations import EDIT_FIELDS
from scaling.operations.deployment_fields import in_force, source_of
from scaling.operations.labels import EDIT_LABELS as LABELS
from scaling.replicas.decision import LimitCode


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the review: what is in force now, what will be, and what follows where that is certain."""

    label: str
    before: str
    after: str
    note: str


def review(row: Deployment, read: Mapping[str, Any]) -> Sequence[Change]:
    """What would change, field by field."""
    now = clock.now()
    seen = DeploymentRow(row, doing_of(row, now), now)
    after = Deployment(**{name: getattr(row, name) for name in EDIT_FIELDS})
    after.overrides = {**row.overrides, **read}
    return [
        Change(
            LABELS[name],
            f"{value_text(name, in_force(row, name))} ({SOURCES[source_of(row, name)]})",
            f"{value_text(name, in_force(after, name))} ({SOURCES[source_of(after, name)]})",
            note_on(name, in_force(after, name), seen),
        )
        for name in read
    ]


def note_on(name: str, value: Any, seen: DeploymentRow) -> str:
    """What the next ticks will do with a new minimum or maximum, and how a new target measures the load of now."""
    have = seen.doing.coming
    if name in ("min_replicas", "max_replicas") and not seen.doing.known:
        return "How many replicas it has is not known now."
    if name == "min_replicas" and value > have:
        return f"It has {have}: the next tick adds {plural(value - have, 'replica')}."
    if name == "max_replicas" and value < have:
        return f"It has {have}: {plural(have - value, 'healthy replica')} go, the oldest first, one per tick."
    if name == "max_replicas" and seen.doing.bound == LimitCode.MAX_REPLICAS and value > seen.high:
        return f"The maximum holds it now: up to {plural(value - seen.high, 'more replica')} may be added."
    measure = {"target_latency_p95_ms": seen.latency, "target_rps": seen.per_replica}.get(name)
    if measure and measure.value is not None and value:
        return f"It is at {measure.value / value:.3g} times the new target now."
    return ""
