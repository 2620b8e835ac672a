"""Every deployment in brief: what filtering, counting and sorting need. The rest is read for the rows of a page alone.

Pages are by key: a cursor names the place behind a row in the order of the list, so that a row which comes, goes or
moves meanwhile neither hides another nor shows it twice.
"""

import base64
import binascii
import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from django.conf import settings
from django.db import connection
from django.db.models import Case, F, Func, IntegerField, Q, QuerySet, TextField, Value, When
from django.db.models.functions import Cast

from iris_web.pages.deployment_states import CODES, PICTURE, Doing, code_of
from iris_web.pages.groups import natural
from scaling.autoscaler.collector import CollectorAtRest
from scaling.models import Deployment
from scaling.scalers import patience

Place = tuple[Any, ...]
# The settings that decide how a deployment is judged.
_JUDGED = ("tolerance", "target_latency_p95_ms", "target_rps")
# Since when an assigned one's metrics are missing stands behind what it is judged by.
_READ = (*PICTURE, "metrics_missing_since")
_NOTHING = json.dumps([None] * len(_READ))
_CODE_ORDER = {code: number for number, (code, _) in enumerate(CODES)}


class Brief(NamedTuple):
    """One deployment: its key, its names, what it is doing, and since when (Unix seconds) its metrics are missing."""

    pk: int
    deployment_id: str
    name: str
    doing: Doing
    missing_since: float | None = None

    def has(self, folded: str) -> bool:
        """Whether its id or its name has these letters, given in lower case."""
        return folded in self.deployment_id.casefold() or folded in self.name.casefold()


@dataclass(frozen=True, slots=True)
class Page:
    """Rows in the order of the list, and the cursors of the pages around them ("" = none)."""

    rows: list[Brief]
    after: str
    before: str


def read(now: datetime) -> list[Brief]:
    """Every deployment that is not gone. Two queries; what the database can compare it does, for there it is cheap."""
    rows = Deployment.objects.filter(gone_at=None).order_by()
    picture, assigned = Members("scaler__latest", _READ), _flag(is_assigned(now))
    columns = ("pk", "deployment_id", "name", "picture", "assigned", *_JUDGED)
    asked = rows.annotate(picture=picture, assigned=assigned).values_list(*columns)
    with CollectorAtRest():
        with connection.cursor() as cursor:
            # Numbers and texts need none of the ORM's conversions, of thousands of rows.
            cursor.execute(*asked.query.sql_with_params())
            found = cursor.fetchall()
        return _briefs(found, _apart(rows, now))


# What is not so of most deployments: listed, the direction of a pause in force, who holds it at zero, its overrides.
_Apart = tuple[bool, str, str, str]
_USUAL: _Apart = (True, "", "", "{}")


def _apart(rows: QuerySet[Deployment], now: datetime) -> dict[int, _Apart]:
    """Those that are not as most are, by key: read by themselves, thousands of others have fewer columns. One query."""
    odd = rows.exclude(absent_since=None, pause_direction="", overrides={}, scaler__zero_by="")
    odd = odd.annotate(listed=_flag(Q(absent_since=None)), pausing=_pausing(now), given=Cast("overrides", TextField()))
    return {
        pk: (bool(listed), pausing, zero_by or "", given)
        for pk, listed, pausing, zero_by, given in odd.values_list(
            "pk", "listed", "pausing", "scaler__zero_by", "given"
        )
    }


def _briefs(found: list[tuple[Any, ...]], apart: Mapping[int, _Apart]) -> list[Brief]:
    # All pictures are one text for the decoder: five thousand short ones cost three times as much.
    pictures = orjson.loads(f"[{','.join([row[3] or _NOTHING for row in found])}]")
    usual = settings.LYC.tolerance
    briefs = []
    for seen, (pk, id_, name, _, assigned, *own) in zip(pictures, found, strict=True):
        missing = seen.pop()
        if pk in apart:
            listed, pausing, zero_by, given = apart[pk]
            ordered = orjson.loads(given)
            own = [_in_force(ordered.get(one), theirs) for one, theirs in zip(_JUDGED, own, strict=True)]
        else:
            listed, pausing, zero_by, _ = _USUAL
        doing = _made(seen, (bool(assigned), listed, pausing, zero_by), own, usual)
        briefs.append(Brief(pk, id_, name, doing, missing))
    return briefs


class Members(Func):
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


def is_assigned(now: datetime) -> Q:
    """Some instance holds its scaler's lease, or held it until just now: a takeover is no news."""
    return Q(scaler__expires_at__gt=now - patience()) & ~Q(scaler__holder="")


def is_pausing(now: datetime) -> Q:
    """An operator's pause of any direction is in force."""
    return ~Q(pause_direction="") & (Q(pause_until=None) | Q(pause_until__gt=now))


def _flag(condition: Q) -> Case:
    """1 or 0: a number needs no conversion, row by row."""
    return Case(When(condition, then=Value(1)), default=Value(0), output_field=IntegerField())


def _pausing(now: datetime) -> Case:
    return Case(When(is_pausing(now), then=F("pause_direction")), default=Value(""))


def doing_of(row: Deployment, now: datetime) -> Doing:
    """What one deployment does, from its row and its scaler's as loaded."""
    scaler = getattr(row, "scaler", None)
    held = scaler is not None and bool(scaler.holder) and scaler.expires_at is not None and scaler.expires_at > now
    pausing = bool(row.pause_direction) and (row.pause_until is None or row.pause_until > now)
    latest = scaler.latest if scaler else {}
    who = (
        held,
        row.absent_since is None,
        row.pause_direction if pausing else "",
        (scaler.zero_by or "") if scaler else "",
    )
    judged = [_in_force(row.overrides.get(name), getattr(row, name)) for name in _JUDGED]
    return _made([latest.get(name) for name in PICTURE], who, judged, settings.LYC.tolerance)


def _in_force(given: float | None, own: float | None) -> float | None:
    """An operator's value, else the Gateway's."""
    return own if given is None else given


def _made(
    picture: Sequence[Any], who: tuple[bool, bool, str, str], judged: Sequence[float | None], usual: float
) -> Doing:
    """`judged` are the values of _JUDGED in force, `usual` the tolerance where there is none."""
    tolerance, latency, rps = judged
    allowed = usual if tolerance is None else tolerance
    return _new_tuple(Doing, (*picture, *who, allowed, bool(latency or rps)))


# `Doing._make` without the check of its length, five thousand times.
_new_tuple = tuple.__new__


_ORDERS: dict[str, Callable[[Brief], Any]] = {
    "name": lambda brief: natural(brief.deployment_id),
    "state": lambda brief: _CODE_ORDER.get(code_of(brief.doing), len(_CODE_ORDER)),
    "latency": lambda brief: brief.doing.latency_ratio,
    "rps": lambda brief: brief.doing.rps_ratio,
    "replicas": lambda brief: brief.doing.coming if brief.doing.known else None,
    "desired": lambda brief: brief.doing.desired,
}


def page_of(found: Sequence[Brief], sort: str, size: int, after: str = "", before: str = "") -> Page:
    """The page behind one cursor, or before the other; an unreadable one is the first page."""
    value, descending = _ORDERS[sort.lstrip("-")], sort.startswith("-")

    def place(brief: Brief) -> Place:
        """Where a row stands: what is unknown last in either direction, then the value, then the id."""
        known = value(brief)
        if known is None:
            return (-1 if descending else 1, 0, brief.deployment_id)
        return (0, known, brief.deployment_id)

    placed = sorted((place(brief), brief.pk, brief) for brief in found)
    if descending:
        placed.reverse()
    places = [where for where, _, _ in placed]
    start = _start(places, descending, size, _decode(after), _decode(before))
    end = min(start + size, len(placed))
    return Page(
        [brief for _, _, brief in placed[start:end]],
        _encode(places[end - 1]) if end < len(placed) else "",
        _encode(places[start]) if start else "",
    )


def _start(places: list[Place], descending: bool, size: int, after: Place | None, before: Place | None) -> int:
    """The index of the first row of the page."""
    try:
        if after is not None:
            return _behind(places, after, descending)
        if before is not None:
            return max(0, _at(places, before, descending) - size)
    except TypeError:  # a cursor of another order
        return 0
    return 0


def _behind(places: list[Place], place: Place, descending: bool) -> int:
    return len(places) - bisect_left(places[::-1], place) if descending else bisect_right(places, place)


def _at(places: list[Place], place: Place, descending: bool) -> int:
    return len(places) - bisect_right(places[::-1], place) if descending else bisect_left(places, place)


def _encode(place: Place) -> str:
    """A place as a text for an address. The natural order of a name is left out: the name tells it."""
    unknown, value, name = place
    plain = [unknown, None if isinstance(value, tuple) else value, name]
    text = json.dumps(plain, separators=(",", ":"), ensure_ascii=False)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decode(cursor: str) -> Place | None:
    """The place that a cursor names; None for none and for what cannot be one."""
    if not cursor:
        return None
    try:
        unknown, value, name = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return (unknown, natural(name) if value is None else value, name)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        return None
