"""One metric of all deployments: asked whole, and in halves where that is refused.

A fault of one deployment (or a limit on the size of an answer) shows in that some part is answered. Halving is breadth
first, so that the first answers serve as many as possible, and ends at the deadline, at MOST_REFUSALS, and where
nothing at all was answered down to the sixteenths: then the fault is not a deployment's, and thousands of questions a
tick would not help a server that is in trouble.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from scaling.replicas.metrics import MetricSample
from scaling.sources.prometheus.errors import (
    PrometheusError,
    PrometheusNotAsked,
    PrometheusRefused,
    PrometheusUnreachable,
)
from scaling.sources.prometheus.payload import Payload
from scaling.sources.prometheus.queries import GroupedQuery
from scaling.sources.prometheus.samples import read_samples

MOST_REFUSALS = 64
MOST_REFUSALS_WITHOUT_AN_ANSWER = 31

Ask = Callable[[str], Payload]
Ids = tuple[str, ...]


@dataclass(slots=True)
class GroupedAnswer:
    """A sample for each id, and how they were got.

    `queries` counts those sent: `unreachable` of them found no connection, `answered` brought series, `refused` an HTTP
    status other than 200. `errors` say what failed in the end, `notes` what else people may want to know.
    """

    samples: dict[str, MetricSample] = field(default_factory=dict)
    queries: int = 0
    unreachable: int = 0
    answered: int = 0
    refused: int = 0
    errors: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def reached(self) -> int:
        return self.queries - self.unreachable


def ask_grouped(ask: Ask, query: GroupedQuery, ids: Sequence[str]) -> GroupedAnswer:
    """Never raises PrometheusError: what failed is in the samples. `ask` bounds the time."""
    answer = GroupedAnswer()
    refusal = _ask_part(answer, ask, query, tuple(ids), query.text)
    if refusal is None:
        return answer
    parts = deque(_halves(tuple(ids)) if len(ids) > 1 else [tuple(ids)])
    while parts:
        part = parts.popleft()
        if _is_hopeless(answer):
            refused = "a refused query" if answer.refused == 1 else f"{answer.refused} refused queries"
            _fail(answer, query, part, f"{refusal} (given up after {refused})")
            continue
        again = _ask_part(answer, ask, query, part, query.text_for(part))
        if again is not None and len(part) > 1:
            parts.extend(_halves(part))
        elif again is not None:
            _fail(answer, query, part, str(again), whose=f"deployment {part[0]}: ")
    answer.notes.append(f"The whole was refused and asked for in {answer.queries - 1} parts: {refusal}")
    return answer


def _ask_part(answer: GroupedAnswer, ask: Ask, query: GroupedQuery, ids: Ids, text: str) -> PrometheusRefused | None:
    """Ask for `ids`; a refusal that smaller parts may not meet is returned, all else is written into the answer."""
    answer.queries += 1
    try:
        payload = ask(text)
    except PrometheusRefused as refusal:
        answer.refused += 1
        if refusal.may_be_one_of_many:
            return refusal
        _fail(answer, query, ids, str(refusal))
    except PrometheusError as error:
        answer.unreachable += isinstance(error, PrometheusUnreachable)
        answer.queries -= isinstance(error, PrometheusNotAsked)
        _fail(answer, query, ids, str(error))
    else:
        _take(answer, query, ids, payload)
    return None


def _take(answer: GroupedAnswer, query: GroupedQuery, ids: Ids, payload: Payload) -> None:
    answer.answered += 1
    read = read_samples(payload, ids, query.label, query.text, query.most)
    answer.samples |= read.by_id
    answer.notes += (*payload.warnings, *payload.infos)
    if read.unlabelled:
        answer.notes.append(f"{read.unlabelled} series without the label {query.label}, which count for nobody.")


def _fail(answer: GroupedAnswer, query: GroupedQuery, ids: Ids, error: str, whose: str = "") -> None:
    answer.samples |= dict.fromkeys(ids, MetricSample(series=0, error=error, query=query.text))
    answer.errors.append(whose + error)


def _is_hopeless(answer: GroupedAnswer) -> bool:
    if answer.unreachable:
        return True
    return answer.refused >= (MOST_REFUSALS if answer.answered else MOST_REFUSALS_WITHOUT_AN_ANSWER)


def _halves(ids: Ids) -> list[Ids]:
    middle = len(ids) // 2
    return [ids[:middle], ids[middle:]]
