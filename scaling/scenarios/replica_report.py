"""What `plan_replicas` prints of a run: one mapping for `--json`, or a table for people."""

from dataclasses import asdict
from typing import Any

from scaling.replicas.decision import Decision, Outcome
from scaling.replicas.lint import lint
from scaling.replicas.metrics import Metric
from scaling.scenarios.replica_runner import ReplicaRun

HEADINGS = ("at", "gate", "H", "W", "U", "F", "ratio", "desired", "window", "add", "stop", "why")
_RIGHT = frozenset({"at", "H", "W", "U", "F", "ratio", "desired", "window", "add"})


def report(run: ReplicaRun) -> dict[str, Any]:
    """The run as plain data, times on the scenario's axis; what a gated tick did not compute is null."""
    window = run.memory.window or ()
    return {
        "ticks": [_tick(decision) for decision in run.decisions],
        "final": {
            "counts": asdict(run.counts) if run.counts else None,
            "last_scale_at": _plain(run.memory.last_scale_at),
            "window": [{"at": _plain(entry.at), "desired": entry.desired} for entry in window],
        },
    }


def _tick(decision: Decision) -> dict[str, Any]:
    evidence = decision.evidence
    return {
        "at": _plain(decision.at),
        "gate": decision.gate.value if decision.gate else None,
        "reason": decision.reason,
        "counts": asdict(decision.counts) if decision.counts else None,
        "latency_ratio": evidence.ratio_of(Metric.LATENCY) if evidence else None,
        "rps_ratio": evidence.ratio_of(Metric.RPS) if evidence else None,
        "ratio": evidence.ratio if evidence else None,
        "desired": decision.desired,
        "window_max": decision.window_max,
        "add": decision.add,
        "stop": list(decision.stop),
        "sent": decision.sent,
        "next_possible_at": _plain(decision.next_possible_at),
    }


def _plain(seconds: float | None) -> float | int | None:
    """A time without binary noise, as a whole number where it is one."""
    if seconds is None:
        return None
    rounded = round(seconds, 6)
    return int(rounded) if rounded == int(rounded) else rounded


def table(run: ReplicaRun) -> list[str]:
    """The run as lines for people."""
    deployment = run.deployment
    rows = [HEADINGS, *(_row(decision) for decision in run.decisions)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS) - 1)]
    counts = run.counts
    ends = "unknown"
    if counts:
        ends = f"{counts.healthy} healthy, {counts.warming} warming, {counts.unhealthy} unhealthy, "
        ends += f"{counts.failed} failed"
    return [
        f"{deployment.id}: {deployment.min_replicas} to {deployment.max_replicas} replicas",
        *(f"note: {finding.sentence}" for finding in lint(deployment)),
        *(_line(row, widths) for row in rows),
        f"at the end: {ends}; last load-driven change {_or_dash(_plain(run.memory.last_scale_at))}",
    ]


def _row(decision: Decision) -> tuple[str, ...]:
    counts, evidence = decision.counts, decision.evidence
    ratio = evidence.ratio if evidence else None
    refused = " (refused)" if decision.outcome is Outcome.REFUSED else ""
    lost = " (no answer)" if decision.outcome is Outcome.TIMEOUT else ""
    return (
        _or_dash(_plain(decision.at)),
        _or_dash(decision.gate),
        *(_or_dash(number) for number in ((*asdict(counts).values(),) if counts else (None,) * 4)),
        "-" if ratio is None else f"{ratio:.3g}",
        _or_dash(decision.desired),
        _or_dash(decision.window_max),
        f"{decision.add}",
        " ".join(decision.stop) or "-",
        f"{decision.reason}{refused}{lost}",
    )


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    cells = [
        text.rjust(width) if name in _RIGHT else text.ljust(width)
        for name, text, width in zip(HEADINGS, row, widths, strict=False)
    ]
    return "  ".join([*cells, row[-1]]).rstrip()


def _or_dash(value: object) -> str:
    return "-" if value is None else str(value)
