"""Memory and decisions as plain data for storing: no NaN, no infinity, nothing but JSON's own types."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from scaling.replicas.decision import Decision
from scaling.replicas.memory import Asked, ScalerMemory, ZeroBy
from scaling.replicas.metrics import MetricSample, Proposal
from scaling.replicas.window import WindowEntry, compact


def memory_to_mapping(memory: ScalerMemory) -> dict[str, Any]:
    """The memory as JSON data; its window in the fewest entries that decide the same."""
    window = memory.window
    return {
        "last_scale_at": memory.last_scale_at,
        "window": None if window is None else [[entry.at, entry.desired] for entry in compact(window)],
        "asked": [{"at": it.at, "count": it.count, "known": sorted(it.known)} for it in memory.asked],
        "zero_by": memory.zero_by.value if memory.zero_by else None,
        "first_healthy_at": memory.first_healthy_at,
        "metrics_missing_since": memory.metrics_missing_since,
    }


def memory_from_mapping(stored: Mapping[str, Any]) -> ScalerMemory:
    """The memory that `memory_to_mapping` stored; a key that is not there was never known."""
    window, zero_by = stored.get("window"), stored.get("zero_by")
    return ScalerMemory(
        last_scale_at=stored.get("last_scale_at"),
        window=None if window is None else tuple(WindowEntry(at, desired) for at, desired in window),
        asked=tuple(Asked(it["at"], it["count"], frozenset(it["known"])) for it in stored.get("asked", ())),
        zero_by=ZeroBy(zero_by) if zero_by else None,
        first_healthy_at=stored.get("first_healthy_at"),
        metrics_missing_since=stored.get("metrics_missing_since"),
    )


def decision_to_mapping(decision: Decision) -> dict[str, Any]:
    """The whole decision record as JSON data; numbers that JSON has not are words (`NaN`, `+Inf`, `-Inf`)."""
    evidence = decision.evidence
    return {
        "deployment_id": decision.deployment_id,
        "at": decision.at,
        "gate": decision.gate,
        "reason": decision.reason,
        "counts": asdict(decision.counts) if decision.counts else None,
        "inputs": {
            "p95": _sample(decision.metrics.p95),
            "rps": _sample(decision.metrics.rps),
            "prometheus_down": decision.metrics.prometheus_down,
        },
        "proposals": [_proposal(it) for it in evidence.proposals] if evidence else None,
        "ratio": evidence.ratio if evidence else None,
        "desired": decision.desired,
        "window_max": decision.window_max,
        "limits": [limit._asdict() for limit in decision.limits],
        "bound": decision.bound,
        "step": decision.step,
        "add": decision.add,
        "stop": list(decision.stop),
        "sent": decision.sent,
        "outcome": decision.outcome,
        "next_possible_at": decision.next_possible_at,
    }


def _sample(sample: MetricSample) -> dict[str, Any]:
    return {
        "value": _number(sample.value),
        "at": sample.at,
        "series": sample.series,
        "error": sample.error,
        "warnings": list(sample.warnings),
        "query": sample.query,
    }


def _proposal(proposal: Proposal) -> dict[str, Any]:
    return {**asdict(proposal), "value": _number(proposal.value)}


def _number(value: float | None) -> float | str | None:
    if value is None or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else f"{'+' if value > 0 else '-'}Inf"
