"""Every deployment in brief: what filtering, counting and sorting need. The rest is read for a page's rows alone."""

from collections.abc import Callable
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Case, F, IntegerField, Q, Value, When

from iris_web.pages.deployment_states import Doing
from scaling.autoscaler.collector import CollectorAtRest
from scaling.models import Deployment
from scaling.operations.deployment_fields import in_force
from scaling.replicas.decision import Gate
from scaling.scalers import patience


class Brief(NamedTuple):
    """One deployment: its key, its names, who holds it, and what its latest tick told (None: nothing did).

    A tuple as the database gives it, for there is one of every deployment in each look at the list. `missing_since`
    is since when (Unix seconds) nothing is known of its load.
    """

    pk: int
    deployment_id: str
    name: str
    listed: bool
    assigned: bool
    pause: str
    zero_by: str
    state: str | None
    gate: str | None
    over: bool | None
    going_up: bool | None
    going_down: bool | None
    at_zero: bool | None
    healthy: int | None
    warming: int | None
    desired: int | None
    latency_ratio: float | None
    rps_ratio: float | None
    missing_since: float | None

    @property
    def coming(self) -> int | None:
        """Healthy and warming replicas together."""
        return None if self.healthy is None else self.healthy + (self.warming or 0)

    def has(self, folded: str) -> bool:
        """Whether its id or its name has these letters, given in lower case."""
        return folded in self.deployment_id.casefold() or folded in self.name.casefold()


_OF_SCALER = Brief._fields[Brief._fields.index("state") : Brief._fields.index("missing_since")]


def read(now: datetime) -> list[Brief]:
    """Every deployment that is not gone. One query."""
    rows = Deployment.objects.filter(gone_at=None).order_by()
    rows = rows.annotate(listed=_flag(Q(absent_since=None)), assigned=_flag(is_assigned(now)), pausing=_pausing(now))
    asked = rows.values_list(
        *("pk", "deployment_id", "name", "listed", "assigned", "pausing", "scaler__zero_by"),
        *(f"scaler__{name}" for name in _OF_SCALER),
        "scaler__metrics_missing_since",
    )
    with CollectorAtRest(), connection.cursor() as cursor:
        # Numbers and texts need none of the ORM's conversions, of thousands of rows.
        cursor.execute(*asked.query.sql_with_params())
        return list(map(Brief._make, cursor.fetchall()))


CONDITIONS: dict[str, tuple[str, Callable[[Brief], Any]]] = {
    "over": ("over target", attrgetter("over")),
    # A cooldown is the rest after a change that was made, not something that keeps it from one.
    "held": ("held by a gate", lambda brief: brief.gate and brief.gate != Gate.COOLDOWN),
    "up": ("scaling up", attrgetter("going_up")),
    "down": ("scaling down", attrgetter("going_down")),
    "zero": ("at zero", attrgetter("at_zero")),
    "paused": ("paused", attrgetter("pause")),
    "unassigned": ("no scaler", lambda brief: not brief.assigned),
    "not_listed": ("not listed", lambda brief: not brief.listed),
}
"""The list's filters; several can be the case at once."""


def that_are(code: str, found: list[Brief]) -> list[Brief]:
    """Those of which this one of CONDITIONS is the case."""
    return list(filter(CONDITIONS[code][1], found))


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
    """What one deployment does, from its row and its scaler's as loaded, by the rules of the whole list."""
    scaler = getattr(row, "scaler", None)
    lease = scaler.expires_at if scaler and scaler.holder else None
    latest = scaler.latest if scaler else {}
    pausing = bool(row.pause_direction) and (row.pause_until is None or row.pause_until > now)
    told = ("state", "gate", "bound", "latency_ratio", "rps_ratio", "healthy", "warming", "desired")
    return Doing(
        **{name: latest.get(name) for name in told},
        assigned=lease is not None and lease > now - patience(),
        listed=row.absent_since is None,
        pause=row.pause_direction if pausing else "",
        zero_by=(scaler.zero_by or "") if scaler else "",
        tolerance=in_force(row, "tolerance"),
    )
