"""Settings that cannot do what they seem to promise, told on the deployment's page."""

from collections.abc import Callable
from dataclasses import dataclass

from scaling.replicas.deployment import Deployment


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a deployment's settings are judged against; None where it is not known, then the rule is silent.

    `last_bucket_ms`: the histogram's last finite bucket. `warmup_seconds`: how long a new replica takes to serve.
    `rate_window_seconds`: over which the rates are taken. `scales_to_zero`: idle deployments are to go to zero.
    """

    last_bucket_ms: float | None = None
    warmup_seconds: float | None = None
    rate_window_seconds: float | None = None
    scales_to_zero: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with the settings, in a sentence."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class LintRule:
    """A rule with its code: when it applies, and what it then says."""

    code: str
    applies: Callable[[Deployment, Surroundings], bool]
    says: Callable[[Deployment, Surroundings], str]


def _settling_seconds(around: Surroundings) -> float | None:
    """How long a change takes to show in the metrics."""
    if around.warmup_seconds is None or around.rate_window_seconds is None:
        return None
    return around.warmup_seconds + around.rate_window_seconds


def _above_last_bucket(deployment: Deployment, around: Surroundings) -> bool:
    target, last = deployment.target_latency_p95_ms, around.last_bucket_ms
    return target is not None and last is not None and target > last


def _short_cooldown(deployment: Deployment, around: Surroundings) -> bool:
    settling = _settling_seconds(around)
    return settling is not None and deployment.cooldown_seconds < settling


LINT_RULES: tuple[LintRule, ...] = (
    LintRule(
        "target_above_buckets",
        _above_last_bucket,
        lambda deployment, around: (
            f"The latency target of {deployment.target_latency_p95_ms:g} ms is above the last finite bucket of "
            f"{around.last_bucket_ms:g} ms: p95 is never measured above it, so latency never asks for more."
        ),
    ),
    LintRule(
        "short_cooldown",
        _short_cooldown,
        lambda deployment, around: (
            f"The cooldown of {deployment.cooldown_seconds:g} s is shorter than warm-up plus rate window "
            f"({round(_settling_seconds(around) or 0):d} s): the next decision does not see the effect of the last one."
        ),
    ),
    LintRule(
        "min_above_max",
        lambda deployment, _around: deployment.min_replicas > deployment.max_replicas,
        lambda deployment, _around: (
            f"The minimum of {deployment.min_replicas} is above the maximum of {deployment.max_replicas}: "
            "the maximum wins."
        ),
    ),
    LintRule(
        "zero_with_minimum",
        lambda deployment, around: around.scales_to_zero and deployment.min_replicas > 0,
        lambda deployment, _around: (
            f"Going to zero when idle needs a minimum of 0; it is {deployment.min_replicas}, so that never happens."
        ),
    ),
    LintRule(
        "no_targets",
        lambda deployment, _around: not deployment.target_latency_p95_ms and not deployment.target_rps,
        lambda _deployment, _around: "Neither latency nor requests have a target: the load never scales it.",
    ),
)


def lint(deployment: Deployment, around: Surroundings | None = None) -> tuple[Finding, ...]:
    """Every rule that applies, in the order of the table."""
    around = around or Surroundings()
    return tuple(
        Finding(rule.code, rule.says(deployment, around)) for rule in LINT_RULES if rule.applies(deployment, around)
    )
