"""Reading metrics: missing data is never zero.

`SAMPLE_RULES` says what makes one sample missing, `_latency_proposal` when a NaN is idleness, and `Evidence` what
the metrics say together.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from scaling.replicas.ages import age_seconds
from scaling.replicas.deployment import Deployment

SLACK = 1e-9
OLDEST_SAMPLE_SECONDS = 60.0
OLDEST_SAMPLE_TICKS = 2
MOST_REPLICAS = 1e9


@dataclass(frozen=True, slots=True)
class MetricSample:
    """One deployment's answer to one query, raw.

    `value` None is an empty answer; `at` is the sample's own time in seconds; `series` how many the answer
    held for this deployment; `error` why the query failed; `warnings` what came along with an HTTP 200.
    """

    value: float | None = None
    at: float | None = None
    series: int = 1
    error: str = ""
    warnings: tuple[str, ...] = ()
    query: str = ""


@dataclass(frozen=True, slots=True)
class MetricsReading:
    """What Prometheus said of one deployment in one tick: p95 in milliseconds, total requests per second."""

    p95: MetricSample = MetricSample()
    rps: MetricSample = MetricSample()
    prometheus_down: bool = False


class Metric(StrEnum):
    LATENCY = "latency"
    RPS = "rps"


class Standing(StrEnum):
    """What one metric is in this tick; an idle one leaves the maximum, a missing one is unknown, not zero."""

    KNOWN = "known"
    IDLE = "idle"
    MISSING = "missing"
    NOT_CONFIGURED = "not_configured"


@dataclass(frozen=True, slots=True)
class Proposal:
    """One metric's say: its value, its target, their ratio and the replicas that asks for.

    `why` tells what makes it missing; `partial` that it came with warnings: it may raise, never lower. Ratio
    and wanted are None where nothing is proposed (wanted also without a healthy replica).
    """

    metric: Metric
    standing: Standing
    why: str = ""
    partial: bool = False
    value: float | None = None
    target: float | None = None
    ratio: float | None = None
    wanted: int | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the metrics say together.

    `ratio` is the highest of the configured and known ones. `all_missing`: there are configured metrics and
    none is known. `may_lower` is false while any configured one is missing or partial. `busy`: requests are
    known to be served.
    """

    proposals: tuple[Proposal, ...]
    ratio: float | None
    all_missing: bool
    may_lower: bool
    busy: bool
    prometheus_down: bool

    @property
    def unknown(self) -> bool:
        """Nothing is known of the load."""
        return self.prometheus_down or self.all_missing

    def ratio_of(self, metric: Metric) -> float | None:
        return next((proposal.ratio for proposal in self.proposals if proposal.metric is metric), None)


@dataclass(frozen=True, slots=True)
class _Value:
    """A sample after the rules: a number (NaN for latency only), or None and why."""

    number: float | None
    why: str = ""


SampleRule = Callable[[MetricSample, float, float], bool]

SAMPLE_RULES: tuple[tuple[str, SampleRule], ...] = (
    ("the query failed", lambda sample, _now, _oldest: bool(sample.error)),
    ("several series for one deployment", lambda sample, _now, _oldest: sample.series > 1),
    ("an empty answer", lambda sample, _now, _oldest: sample.value is None or sample.series < 1),
    ("too old a sample", lambda sample, now, oldest: _sample_age(sample, now) > oldest),
    ("an infinite value", lambda sample, _now, _oldest: math.isinf(sample.value or 0)),
    ("a negative value", lambda sample, _now, _oldest: (sample.value or 0) < 0),
)
"""What makes a sample missing, given it, now and the oldest age in seconds; the first that applies is told."""

RPS_RULES: tuple[tuple[str, SampleRule], ...] = (
    *SAMPLE_RULES,
    ("not a number", lambda sample, _now, _oldest: math.isnan(sample.value or 0)),
)


def weigh(reading: MetricsReading, deployment: Deployment, healthy: int, now: float, tick_seconds: float) -> Evidence:
    """Step 6: each metric's proposal and what they say together; `healthy` replicas share the load."""
    oldest = max(OLDEST_SAMPLE_TICKS * tick_seconds, OLDEST_SAMPLE_SECONDS)
    if reading.prometheus_down:
        p95 = rps = _Value(None, "Prometheus cannot be reached")
    else:
        p95 = _value(reading.p95, SAMPLE_RULES, now, oldest)
        rps = _value(reading.rps, RPS_RULES, now, oldest)
    proposals = (
        _latency_proposal(reading, p95, rps, deployment.target_latency_p95_ms, healthy),
        _rps_proposal(reading, rps, deployment.target_rps, healthy),
    )
    configured = [it for it in proposals if it.standing is not Standing.NOT_CONFIGURED]
    missing = [it for it in configured if it.standing is Standing.MISSING]
    partial = [it for it in configured if it.partial]
    ratios = [it.ratio for it in configured if it.ratio is not None]
    return Evidence(
        proposals=proposals,
        ratio=max(ratios) if ratios else None,
        all_missing=bool(configured) and len(missing) == len(configured),
        may_lower=not missing and not partial and not reading.prometheus_down,
        busy=bool(rps.number),
        prometheus_down=reading.prometheus_down,
    )


def _value(sample: MetricSample, rules: tuple[tuple[str, SampleRule], ...], now: float, oldest: float) -> _Value:
    if _is_plain(sample, now, oldest):
        return _Value(sample.value)
    for why, applies in rules:
        if applies(sample, now, oldest):
            return _Value(None, f"{why}: {sample.error}" if sample.error else why)
    return _Value(sample.value)


def _is_plain(sample: MetricSample, now: float, oldest: float) -> bool:
    """Whether no rule applies, at one look, as for nearly every sample (NaN is left to the rules)."""
    value, at = sample.value, sample.at
    if value is None or at is None or sample.error or sample.series != 1:
        return False
    return 0 <= value < math.inf and age_seconds(at, now) <= oldest


def _sample_age(sample: MetricSample, now: float) -> float:
    """A sample without a time of its own cannot be believed: it is as old as can be."""
    return math.inf if sample.at is None else age_seconds(sample.at, now)


def _latency_proposal(
    reading: MetricsReading, p95: _Value, rps: _Value, target: float | None, healthy: int
) -> Proposal:
    """No request in the window makes the quantile NaN: with no requests that is idleness, else a fault."""
    partial = bool(reading.p95.warnings)
    if p95.number is not None and math.isnan(p95.number):
        if rps.number == 0:
            standing = Standing.IDLE if target else Standing.NOT_CONFIGURED
            idle_partial = partial or bool(reading.rps.warnings)
            return Proposal(Metric.LATENCY, standing, partial=idle_partial, target=target)
        p95 = _Value(None, "not a number while requests are served or unknown")
    return _proposal(Metric.LATENCY, p95, partial, target, share=1, healthy=healthy)


def _rps_proposal(reading: MetricsReading, rps: _Value, target: float | None, healthy: int) -> Proposal:
    """The total over the healthy replicas; without any it is known and proposes nothing."""
    return _proposal(Metric.RPS, rps, bool(reading.rps.warnings), target, share=healthy, healthy=healthy)


def _proposal(metric: Metric, value: _Value, partial: bool, target: float | None, share: int, healthy: int) -> Proposal:
    if not target or target < 0:
        return Proposal(metric, Standing.NOT_CONFIGURED, value=value.number)
    if value.number is None:
        return Proposal(metric, Standing.MISSING, value.why, target=target)
    if share == 0:
        return Proposal(metric, Standing.KNOWN, partial=partial, value=value.number, target=target)
    ratio = value.number / share / target
    if math.isinf(ratio):
        return Proposal(metric, Standing.MISSING, "an infinite ratio", target=target)
    wanted = replicas_for(healthy, ratio) if healthy else None
    return Proposal(metric, Standing.KNOWN, "", partial, value.number, target, ratio, wanted)


def replicas_for(healthy: int, ratio: float) -> int:
    """Replicas that would bring the load to its target, rounded up against binary noise."""
    return math.ceil(min(healthy * ratio, MOST_REPLICAS) - SLACK)
