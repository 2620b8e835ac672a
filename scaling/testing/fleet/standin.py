"""A stand-in for Prometheus: its query API for the two questions that Iris asks, over the fleet's own counters.

It says so: its build info has the version `iris-stand-in`.
"""

import math
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from scaling.testing.fleet.history import History
from scaling.testing.fleet.questions import LABEL, Asked, Question, UnknownQuestion, read_question

VERSION = "iris-stand-in"
MOST_STEPS = 11_000
# As long as Prometheus looks back for a sample.
LOOKBACK_SECONDS = 300.0

Answer = tuple[int, dict[str, Any]]
Parameters = Mapping[str, str]


class BadQuery(ValueError):
    """Parameters that cannot be read, in one sentence."""


def build_info() -> Answer:
    return 200, {"status": "success", "data": {"version": VERSION, "revision": "", "branch": "", "goVersion": ""}}


def instant(parameters: Parameters, history: History, now: float) -> Answer:
    """`/api/v1/query`."""
    try:
        question = read_question(parameters.get("query", ""))
        at = _time(parameters, "time", now)
    except (UnknownQuestion, BadQuery) as problem:
        return _bad(problem)
    series = [{"metric": {LABEL: name}, "value": [at, _text(value)]} for name, value in _values(question, history, at)]
    return _good("vector", series)


def ranged(parameters: Parameters, history: History, now: float) -> Answer:
    """`/api/v1/query_range`."""
    try:
        question = read_question(parameters.get("query", ""))
        start, end = _time(parameters, "start", now), _time(parameters, "end", now)
        step = _step(parameters.get("step", ""))
        if end < start or (end - start) / step > MOST_STEPS:
            raise BadQuery(f"expected an end after the start and at most {MOST_STEPS} steps")
    except (UnknownQuestion, BadQuery) as problem:
        return _bad(problem)
    points: dict[str, list[list[Any]]] = {}
    for number in range(int((end - start) / step + 1e-9) + 1):
        at = start + number * step
        for name, value in _values(question, history, at):
            points.setdefault(name, []).append([at, _text(value)])
    return _good("matrix", [{"metric": {LABEL: name}, "values": values} for name, values in points.items()])


def _values(question: Question, history: History, at: float) -> Iterator[tuple[str, float]]:
    latest = history.latest_at(at)
    if not question.is_known or latest is None or at - latest > LOOKBACK_SECONDS:
        return iter(())
    ask = history.p95 if question.asked is Asked.P95 else history.rps
    return ((name, value) for name, value in ask(at, question.window_seconds) if question.covers(name))


def _good(kind: str, result: list[dict[str, Any]]) -> Answer:
    return 200, {"status": "success", "data": {"resultType": kind, "result": result}}


def _bad(problem: Exception) -> Answer:
    return 400, {"status": "error", "errorType": "bad_data", "error": str(problem)}


def _text(value: float) -> str:
    """A sample's value as Prometheus writes it."""
    return "NaN" if math.isnan(value) else format(value, ".10g")


def _time(parameters: Parameters, name: str, default: float) -> float:
    text = parameters.get(name, "")
    if not text:
        return default
    seconds = _number(text)
    try:
        seconds = datetime.fromisoformat(text).timestamp() if seconds is None else seconds
    except (ValueError, OverflowError):
        raise BadQuery(f"{name}: expected a time, got {text[:60]!r}") from None
    return seconds


def _step(text: str) -> float:
    seconds = _number(text.removesuffix("s"))
    if seconds is None or seconds <= 0:
        raise BadQuery(f"step: expected seconds, got {text[:60]!r}")
    return seconds


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
