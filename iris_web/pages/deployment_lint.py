"""What is wrong with a deployment's settings (`scaling.replicas.lint`), given what is known of its surroundings."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings

from scaling.lyc_settings import seconds
from scaling.models import Deployment, SourceState
from scaling.operations.deployment_fields import effective
from scaling.replica_rows import stored
from scaling.replicas.lint import Finding, Surroundings, lint


def findings(row: Deployment) -> tuple[Finding, ...]:
    """Every finding, with the warm-up as its own replicas showed it."""
    scaler = getattr(row, "scaler", None)
    return lint(effective(row), Surroundings(
        last_bucket_ms=_last_bucket_ms(),
        warmup_seconds=warmup_seconds(scaler.replicas if scaler else ()),
        rate_window_seconds=_rate_window_seconds(),
    ))  # fmt: skip


def _last_bucket_ms() -> float | None:
    learned = SourceState.objects.filter(name="prometheus").order_by("-asked_at")
    found = (facts.get("last_bucket_ms") for facts in learned.values_list("facts", flat=True))
    return next((known for known in found if known is not None), None)


def warmup_seconds(replicas: Any) -> float | None:
    """The shortest time in which a replica that is healthy now was seen to become so; None where none was seen."""
    return min(_warmups(replicas), default=None)


def _warmups(replicas: Any) -> Iterator[float]:
    """One that was healthy when it was first seen tells nothing: its time is longer than any warm-up is granted."""
    for one in stored(replicas):
        if one.class_ != "healthy" or one.created is None:
            continue
        took = one.since - one.created
        if 0 < took < settings.LYC.health_grace_seconds:
            yield took


def _rate_window_seconds() -> float | None:
    try:
        return seconds(settings.LYC.prometheus_window)
    except ValueError:  # a week or a year: Prometheus knows units that our own durations have not
        return None
