"""What stands over every page of deployments: whether the Gateway and Prometheus answer, and what is held while not."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import cached_property

from django.conf import settings
from django.db.models import FloatField, Min, Q

from iris_web.access import Role
from iris_web.live.fragments import Context, Fragment, Params
from iris_web.pages import words
from iris_web.pages.deployment_conditions import conditions, counts, there
from iris_web.pages.shell import Banner
from scaling import clock, source_views
from scaling.models import Deployment, Instance, SourceState
from scaling.models.json_members import Member
from scaling.replicas.decision import Gate
from scaling.replicas.picture import State
from scaling.scalers import REMEDY, is_assigned

ABSENT_SHOWN = 20
# An instance that has not been seen for so long no longer scales anything.
INSTANCE_LOST = timedelta(seconds=30)
# Where nobody serves there is nothing to measure: such a one has another state.
_WITHOUT_METRICS = Q(scaler__state=State.METRICS_UNAVAILABLE)
STAND_IN = "stand-in for Prometheus: figures come from Iris's own demonstration fleet"


def to_count(now: datetime) -> dict[str, Q]:
    """Which deployments the banners count: those that the latest tick of a scaler held, by its gate, and more."""
    told = {gate.value: Q(scaler__gate=gate) for gate in (Gate.FLEET_UNKNOWN, Gate.PROMETHEUS_DOWN)}
    told[Gate.METRICS_UNAVAILABLE.value] = _WITHOUT_METRICS
    held = {code: condition & is_assigned(now) for code, condition in told.items()}
    others = conditions(now)
    return held | {code: others[code] for code in ("unassigned", "not_listed")}


class Fleet:
    """The facts behind the banners, each read when one first asks for it; `counted` where that was read already."""

    def __init__(self, now: datetime, counted: Mapping[str, int] | None = None) -> None:
        self.now = now
        self._counted = counted

    @cached_property
    def sources(self) -> dict[str, SourceState]:
        return source_views.worst()

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many there are of each of `to_count`."""
        return counts(there(), to_count(self.now)) if self._counted is None else self._counted

    @cached_property
    def missing_since(self) -> datetime | None:
        """Since when the longest missing metrics are."""
        missing = there().filter(_WITHOUT_METRICS & is_assigned(self.now))
        since = Member("scaler__latest", "metrics_missing_since", FloatField())
        return words.moment(missing.aggregate(since=Min(since))["since"])

    @cached_property
    def absent(self) -> list[Deployment]:
        if not self.counts["not_listed"]:
            return []
        return list(Deployment.objects.filter(gone_at=None, absent_since__isnull=False)[:ABSENT_SHOWN])

    @cached_property
    def instances(self) -> list[int]:
        """How many deployments each instance that runs takes at most."""
        running = Instance.objects.filter(seen_at__gt=self.now - INSTANCE_LOST)
        return list(running.values_list("max_deployments", flat=True))


Made = Callable[[Fleet], Iterator[Banner]]


def banners(fleet: Fleet, made: tuple[Made, ...]) -> list[Banner]:
    """What is wrong first, then what the figures are made of."""
    return [banner for make in made for banner in make(fleet)]


def _gateway(fleet: Fleet) -> Iterator[Banner]:
    source = fleet.sources.get("gateway")
    if source is not None and source.trouble:
        unread = fleet.counts[Gate.FLEET_UNKNOWN]
        held = f"{words.plural(unread, 'deployment')} whose replicas cannot be read" if unread else "nothing yet"
        text = f"{_stop(source.trouble)} Nothing is removed on doubt. Held because of it: {held}."
        yield Banner("gateway", "bad", "plug", "The Gateway does not answer well", text, moment=source.since)
    if source is not None and source.warnings:
        yield Banner("doubt", "warn", "question", "The Gateway's list is doubted", _stop(str(source.warnings[0])))


def _fleet_unknown(fleet: Fleet) -> Iterator[Banner]:
    source, unread = fleet.sources.get("gateway"), fleet.counts[Gate.FLEET_UNKNOWN]
    if unread and not (source and source.trouble):
        title = f"The replicas of {words.plural(unread, 'deployment')} are unknown"
        yield Banner("fleet", "bad", "stop", title, "They are held as they are: an unread list is not an empty one.",
                     "/deployments/?state=held", "Show")  # fmt: skip


def _prometheus(fleet: Fleet) -> Iterator[Banner]:
    source = fleet.sources.get("prometheus")
    if source is None:
        return
    if source.trouble:
        count = fleet.counts[Gate.PROMETHEUS_DOWN] + fleet.counts[Gate.METRICS_UNAVAILABLE]
        text = (
            f"{_stop(source.trouble)} Held because of it: scaling by load, clean-up of unhealthy replicas and going to "
            f"zero, of {words.plural(count, 'deployment')}. Minimum, maximum and failed replicas go on."
        )
        yield Banner("prometheus", "bad", "plug", "Prometheus does not answer well", text, moment=source.since)
    elif source.warnings:
        text = f"{'; '.join(map(str, source.warnings[:3]))}. What came with a warning may add replicas, never remove."
        yield Banner("warnings", "warn", "warn", "Prometheus answers with warnings", text, moment=source.since)


def _missing(fleet: Fleet) -> Iterator[Banner]:
    count = fleet.counts[Gate.METRICS_UNAVAILABLE]
    if count:
        title = f"Metrics are missing for {words.plural(count, 'deployment')}"
        text = "Nothing is known of their load: they are held as they are, and missing is never taken for zero."
        yield Banner("missing", "bad", "diamond", title, text, "/deployments/?state=held", "Show", fleet.missing_since)


def _unassigned(fleet: Fleet) -> Iterator[Banner]:
    if not (nobodys := fleet.counts["unassigned"]):
        return
    if not fleet.instances:
        title, why = "No instance scales", "No control-plane instance has been seen lately."
    else:
        title = f"{words.plural(nobodys, 'deployment')} without a scaler"
        why = f"{words.plural(len(fleet.instances), 'instance')} can take {words.number(sum(fleet.instances))}."
    yield Banner("unassigned", "bad", "plug", title, f"{REMEDY[:1].upper()}{REMEDY[1:]}. {why}",
                 "/deployments/?state=unassigned", "Show")  # fmt: skip


def _silent(fleet: Fleet) -> Iterator[Banner]:
    """The loops no longer ask: the figures grow old. Hidden until then, so that silence shows in an open page."""
    for name, every in (("gateway", settings.LYC.scrape_interval_seconds),
                        ("prometheus", settings.LYC.heartbeat_interval_seconds)):  # fmt: skip
        source = fleet.sources.get(name)
        if source is None or not settings.LYC.enabled:
            continue
        due = source.asked_at + timedelta(seconds=max(30.0, 4 * every))
        title = f"{'The Gateway' if name == 'gateway' else 'Prometheus'} has not been asked"
        text = "The loops do not run: what stands here is that old."
        yield Banner(f"silent-{name}", "warn", "clock", title, text, "/settings/#loops", "Loops", source.asked_at,
                     None if due <= fleet.now else due)  # fmt: skip


def _stand_in(fleet: Fleet) -> Iterator[Banner]:
    for source in fleet.sources.values():
        if source.stand_in:
            known = source.name == "prometheus"
            yield Banner(f"stand-in-{source.name}", "calm", "info", STAND_IN if known else source.stand_in)


OF_LIST: tuple[Made, ...] = (_gateway, _fleet_unknown, _prometheus, _missing, _unassigned, _silent, _stand_in)
OF_ONE: tuple[Made, ...] = (_gateway, _prometheus, _silent, _stand_in)
"""Over one deployment's page: what that page does not say of itself."""


def _stop(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def over_list(fleet: Fleet) -> Context:
    """What stands over the list. At most seven queries."""
    more = fleet.counts["not_listed"] - len(fleet.absent)
    return {"banners": banners(fleet, OF_LIST), "absent": fleet.absent, "absent_more": more}


def of_list(_params: Params, _role: Role) -> Context:
    return over_list(Fleet(clock.now()))


def of_one(_params: Params, _role: Role) -> Context:
    return {"banners": banners(Fleet(clock.now()), OF_ONE)}


FRAGMENTS = (
    Fragment("deployments.sources", "partials/deployment_sources.html", of_list, {"deployments", "sources"}),
    Fragment("deployment.sources", "partials/deployment_sources.html", of_one, {"deployments", "sources"}),
)
