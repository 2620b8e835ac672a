"""What `/metrics` tells of deployments: the picture of each one's latest tick, its decisions, and the sources."""

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from django.db.models import Count, F, Func, Max, Q, Sum, TextField
from django.db.models.functions import Cast

from iris_web.exposition import Family, counter, gauge, labelled, one
from scaling import source_views
from scaling.models import Deployment, ReplicaDecision, Scaler
from scaling.operations.deployment_fields import decides
from scaling.scalers import is_assigned

# Key of a scaler's `latest` → (metric, help); what is unknown is left out, never 0.
_GAUGES: Mapping[str, tuple[str, str]] = {
    "desired": ("desired_replicas", "Replicas that the latest tick desired."),
    "healthy": ("healthy_replicas", "Healthy replicas."),
    "warming": ("warming_replicas", "Replicas that are coming."),
    "unhealthy": ("unhealthy_replicas", "Unhealthy replicas."),
    "failed": ("failed_replicas", "Failed replicas."),
    "p95_ms": ("latency_p95_seconds", "p95 latency."),
    "rps": ("requests_per_second", "Requests a second, all replicas together."),
    "latency_ratio": ("latency_ratio", "p95 latency over its target."),
    "rps_ratio": ("rps_ratio", "Requests per healthy replica over their target."),
}
# Prometheus wants base units; a tick's picture has the milliseconds of the Gateway's targets.
_DIVISORS = {"p95_ms": 1000.0}
_SETTINGS = {"min_replicas": "The minimum in force.", "max_replicas": "The maximum in force."}


def families(now: datetime) -> Iterator[Family]:
    """All metrics of deployments as of `now`."""
    rows = _rows()
    for place, (key, (name, text)) in enumerate(_GAUGES.items()):
        yield gauge(f"iris_deployment_{name}", text, _values(rows, place, _DIVISORS.get(key)))
    for name, text in _SETTINGS.items():
        yield gauge(f"iris_deployment_{name}", text, [(row.labels, row.settings[name]) for row in rows])
    gates = [(labelled(deployment=row.id, gate=row.latest[-1]), 1) for row in rows if row.latest[-1]]
    yield gauge("iris_deployment_gate", "1 for the gate that held the latest tick.", gates)
    yield from _fleet(now)
    decisions = sorted(_DECISIONS.counts().items())
    yield counter(
        "iris_deployment_decisions_total",
        "Stored decisions, by what came back.",
        [(labelled(deployment=id_, outcome=outcome), number) for (id_, outcome), number in decisions],
    )


def _values(rows: Sequence["_Row"], place: int, divisor: float | None) -> list[tuple[str, Any]]:
    if divisor is None:
        return [(row.labels, row.latest[place]) for row in rows]
    told = ((row.labels, row.latest[place]) for row in rows)
    return [(labels, None if value is None else value / divisor) for labels, value in told]


class _Row(NamedTuple):
    """`latest` are the values of _GAUGES and the gate; `settings` those of _SETTINGS in force."""

    id: str
    labels: str
    latest: Sequence[Any]
    settings: Mapping[str, int]


def _rows() -> list[_Row]:
    """Every deployment that is not gone. One query."""
    names = (*_GAUGES, "gate")
    rows = Deployment.objects.filter(gone_at=None).order_by("deployment_id")
    rows = rows.annotate(picture=_Members("scaler__latest", names), given=Cast("overrides", TextField()))
    found = list(rows.values_list("deployment_id", "picture", "given", *_SETTINGS))
    nothing = json.dumps([None] * len(names))
    # All pictures are one text for the decoder: five thousand short ones cost three times as much.
    pictures = orjson.loads(f"[{','.join([row[1] or nothing for row in found])}]")
    return [
        _Row(id_, labelled(deployment=id_), latest, _in_force(given, own))
        for latest, (id_, _, given, *own) in zip(pictures, found, strict=True)
    ]


class _Members(Func):
    """Some members of a JSON object as the text of a JSON array: far less to read than the object."""

    output_field = TextField()

    def __init__(self, column: str, names: Sequence[str]) -> None:
        super().__init__(F(column))
        self.extra["names"] = tuple(names)

    def as_sqlite(self, compiler: Any, connection: Any, **more: Any) -> Any:
        paths = ", ".join(f"'$.{name}'" for name in self.extra["names"])
        return self.as_sql(compiler, connection, template=f"JSON_EXTRACT(%(expressions)s, {paths})", **more)

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:  # noqa: ARG002 - Django's names
        column, given = compiler.compile(self.source_expressions[0])
        members = ", ".join(f"{column} -> '{name}'" for name in self.extra["names"])
        return f"jsonb_build_array({members})::text", list(given) * len(self.extra["names"])


def _in_force(given: str, own: Sequence[int]) -> Mapping[str, int]:
    """The settings by the rule of everywhere; `given`: the operator's values as JSON."""
    ordered = {} if given == "{}" else json.loads(given)
    return {name: decides(name, ordered.get(name), value) for name, value in zip(_SETTINGS, own, strict=True)}


def _fleet(now: datetime) -> Iterator[Family]:
    totals = Deployment.objects.filter(gone_at=None).aggregate(
        all=Count("pk"), held=Count("pk", filter=is_assigned(now)), absent=Count("pk", filter=~Q(absent_since=None))
    )
    untold = Scaler.objects.aggregate(number=Sum("untold"))["number"] or 0
    for name, text, value in (
        ("iris_deployments", "Deployments that the Gateway lists, or did.", totals["all"]),
        ("iris_deployments_unassigned", "Deployments that no instance scales.", totals["all"] - totals["held"]),
        ("iris_deployments_absent", "Deployments that the Gateway left out and Iris holds.", totals["absent"]),
    ):
        yield gauge(name, text, one(value))
    yield counter("iris_decisions_untold_total", "Decisions worth storing that were only counted.", one(untold))
    up = [(labelled(source=name), not source.trouble) for name, source in sorted(source_views.worst().items())]
    yield gauge("iris_source_up", "1 while a source answers every instance well.", up)


class DecisionCounts:
    """Decisions by deployment and outcome since this process began to count, without counting them all each time.

    Old ones are pruned: what was counted is remembered, so that a counter never goes down. Ids may commit out of
    order, so the latest few are counted anew each time.
    """

    UNSETTLED_IDS = 5_000

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._upto = 0
        self._settled: Counter[tuple[str, str]] = Counter()

    def counts(self) -> Counter[tuple[str, str]]:
        with self._lock:
            last = ReplicaDecision.objects.aggregate(last=Max("pk"))["last"] or 0
            if last < self._upto:  # another database, or one that was restored
                self._upto, self._settled = 0, Counter()
            settled = max(self._upto, last - self.UNSETTLED_IDS)
            self._settled += self._between(self._upto, settled)
            self._upto = settled
            return self._settled + self._between(settled, last)

    def _between(self, after: int, upto: int) -> Counter[tuple[str, str]]:
        if after >= upto:
            return Counter()
        rows = ReplicaDecision.objects.filter(pk__gt=after, pk__lte=upto).order_by()
        found = rows.values_list("deployment", "outcome").annotate(number=Count("*"))
        names = dict(Deployment.objects.order_by().values_list("pk", "deployment_id"))
        return Counter({(names[pk], outcome or "not_sent"): n for pk, outcome, n in found if pk in names})


_DECISIONS = DecisionCounts()
