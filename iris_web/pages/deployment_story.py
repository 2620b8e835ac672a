"""Why did it (not) scale: a decision record in words, from what was measured to what came back.

The record is what `scaling.replicas.stored.decision_to_mapping` stores; a member that an older record has not is left
out of the story.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from iris_web.live.times import duration_text
from iris_web.pages import words
from iris_web.pages.deployment_words import CAME_BACK, GATES, LIMITS, METRICS, ON_WISH, STEPS
from iris_web.pages.words import plural
from scaling.models import ReplicaDecision


@dataclass(frozen=True, slots=True)
class Input:
    """One metric: what was asked, what came, and what it proposed."""

    name: str
    answer: str
    proposal: str
    query: str
    at: datetime | None
    wrong: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LimitStep:
    """One limiter with the value before and after it, as people write them."""

    code: str
    name: str
    meaning: str
    before: str
    after: str
    changed: bool
    bound: bool


@dataclass(frozen=True, slots=True)
class Story:
    """A decision as its page tells it. `gated`: a tick that was stopped at the door computed nothing."""

    decision: ReplicaDecision
    at: datetime
    reason: str
    gate: str
    counts: str
    inputs: list[Input]
    ratio: float | None
    desired: int | None
    window_max: int | None
    limits: list[LimitStep]
    bound: str
    step: str
    sent: str
    came_back: str
    outcome: str
    next_possible_at: datetime | None

    @property
    def gated(self) -> bool:
        return not self.limits

    @property
    def changing(self) -> list[LimitStep]:
        """The limiters that changed something, and the one that bound."""
        return [limit for limit in self.limits if limit.changed or limit.bound]

    @property
    def held(self) -> bool:
        """Whether nothing was changed."""
        return not self.decision.add and not self.decision.stop

    @property
    def gate_name(self) -> str:
        return GATES[self.gate] if self.gate in GATES else words.phrase(self.gate)

    @property
    def bound_name(self) -> str:
        return LIMITS[self.bound][0] if self.bound in LIMITS else words.phrase(self.bound)


def tell(decision: ReplicaDecision) -> Story:
    """The record of one stored tick, in words."""
    record: Mapping[str, Any] = decision.record
    limits = list(_limits(record))
    return Story(
        decision=decision,
        at=decision.at,
        reason=record.get("reason") or decision.reason,
        gate=record.get("gate") or "",
        counts=_counts(record.get("counts")),
        inputs=list(_inputs(record, decision.at)),
        ratio=record.get("ratio"),
        desired=record.get("desired"),
        window_max=record.get("window_max"),
        limits=limits,
        bound=record.get("bound") or "",
        step=STEPS.get(record.get("step") or "none", ""),
        sent=_sent(int(record.get("add") or 0), record.get("stop") or ()),
        came_back=_came_back(decision.outcome, record.get("message") or ""),
        outcome=decision.outcome,
        next_possible_at=words.moment(record.get("next_possible_at")),
    )


def _counts(counts: Mapping[str, int] | None) -> str:
    """`4 healthy, 1 warming, 2 unhealthy`; the classes that nobody is of are left out."""
    if counts is None:
        return "unknown"
    parts = [f"{counts.get(name, 0)} {name}" for name in ("healthy", "warming", "unhealthy", "failed")
             if counts.get(name) or name == "healthy"]  # fmt: skip
    return ", ".join(parts)


def _inputs(record: Mapping[str, Any], ticked: datetime) -> Iterator[Input]:
    samples = record.get("inputs") or {}
    proposals = {it["metric"]: it for it in record.get("proposals") or ()}
    for metric, (name, key, unit) in METRICS.items():
        sample, proposal = samples.get(key) or {}, proposals.get(metric) or {}
        at = words.moment(sample.get("at"))
        yield Input(
            name=name,
            answer=_answer(sample, at, ticked, unit, bool(samples.get("prometheus_down"))),
            proposal=_proposal(metric, proposal, unit),
            query=sample.get("query") or "",
            at=at,
            wrong=proposal.get("standing") == "missing",
            warnings=tuple(sample.get("warnings") or ()),
        )


def _answer(sample: Mapping[str, Any], at: datetime | None, ticked: datetime, unit: str, down: bool) -> str:
    """What Prometheus said: `912 ms, 3 s before the tick`."""
    if down:
        return "Prometheus could not be reached"
    if sample.get("error"):
        return f"the query failed: {sample['error']}"
    value = sample.get("value")
    if value is None or not sample.get("series", 1):
        return "an empty answer"
    told = f"{amount(value)} {unit}" if isinstance(value, int | float) else str(value)
    if (series := sample.get("series", 1)) > 1:
        told += f", in {series} series where one was expected"
    return told if at is None else f"{told}, {duration_text((ticked - at).total_seconds())} before the tick"


def _proposal(metric: str, proposal: Mapping[str, Any], unit: str) -> str:
    """What the metric asks for, or why it asks for nothing."""
    standing, target = proposal.get("standing"), proposal.get("target")
    if standing is None:
        return "not computed"
    if standing == "not_configured":
        return "no target: it has no say"
    if standing == "idle":
        return "idle: no request in the window, so latency has no say"
    if standing == "missing":
        return f"missing ({proposal.get('why') or 'unknown'}): unknown, not zero"
    if proposal.get("ratio") is None:
        return "known, with no healthy replica to share it"
    each = " per replica" if metric == "rps" else ""
    target_told = f"a target of {amount(target)} {unit}{each}"
    wanted = proposal.get("wanted")
    asks = f": asks for {plural(wanted, 'replica')}" if isinstance(wanted, int) else ""
    partial = " (with warnings: it may raise, never lower)" if proposal.get("partial") else ""
    return f"{proposal['ratio']:.3g} times {target_told}{asks}{partial}"


def _limits(record: Mapping[str, Any]) -> Iterator[LimitStep]:
    for limit in record.get("limits") or ():
        code, before, after = limit["code"], limit["before"], limit["after"]
        name, meaning = LIMITS.get(code, (words.phrase(code), ""))
        told = str if code in ON_WISH else _signed
        yield LimitStep(code, name, meaning, told(before), told(after), before != after, code == record.get("bound"))


def _signed(count: int) -> str:
    """A change: `+2`, `−1`, `0`."""
    return f"+{count}" if count > 0 else f"−{-count}" if count < 0 else "0"


def _sent(add: int, stop: Sequence[str]) -> str:
    """What the one call of the tick asked for."""
    parts = [f"add {plural(add, 'replica')}"] if add else []
    parts += [f"stop {', '.join(stop)}"] if stop else []
    return " and ".join(parts)


def _came_back(outcome: str, message: str) -> str:
    told = CAME_BACK.get(outcome, words.phrase(outcome))
    return f"{told} It said: {message}" if message else told


def amount(value: Any) -> str:
    """A measured number with what digits matter: `912`, `45.5`, `0.031`."""
    if not isinstance(value, int | float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
