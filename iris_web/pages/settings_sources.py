"""Gateway and Prometheus on the settings page, as each instance sees them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from iris_web.access import Role
from iris_web.live.fragments import Context, Fragment, Params
from scaling import clock, source_views
from scaling.models import SourceState
from scaling.once import fact

# Asked this much later than it should be, nobody asks any more.
LATE_PERIODS = 4
LATE_AT_LEAST_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Known:
    """A source: how pages call it, which setting names it, and what to do when it does not answer."""

    label: str
    variable: str
    remedy: str


SOURCES = {
    "gateway": Known(
        "Gateway", "API_BASE_URL",
        "Check its address, the token and the network between. Deployments are held as they are until it answers.",
    ),
    "prometheus": Known(
        "Prometheus", "LYC_PROMETHEUS_ADDR",
        "Check its address and that it runs. Nothing is scaled by load until it answers.",
    ),
}  # fmt: skip
NOT_ASKED = "Nobody asks it any more: see the loops below, and whether ticker and worker run."


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One source as one instance sees it; `row` is None where nobody has asked it yet."""

    name: str
    known: Known
    code: str
    address: str
    row: SourceState | None = None
    todo: str = ""


def sources(_params: Params, _role: Role) -> Context:
    """One query."""
    return {"sources": list(rows(clock.now())), "configured": settings.LYC.enabled}


_seen = fact(source_views.by_source)


def rows(now: datetime) -> Iterator[SourceRow]:
    """Each source and instance; trouble first. One query."""
    seen = _seen()
    addresses = {"gateway": settings.LYC.gateway_url, "prometheus": settings.LYC.prometheus_address}
    for name, known in SOURCES.items():
        for row in seen.get(name, ()):
            code, todo = _judge(row, known, now)
            yield SourceRow(name, known, code, addresses[name], row, todo)
        if settings.LYC.enabled and not seen.get(name):
            yield SourceRow(name, known, "unknown", addresses[name])


def _judge(row: SourceState, known: Known, now: datetime) -> tuple[str, str]:
    lyc = settings.LYC
    every = lyc.scrape_interval_seconds if row.name == "gateway" else lyc.heartbeat_interval_seconds
    if now - row.asked_at > timedelta(seconds=max(LATE_AT_LEAST_SECONDS, LATE_PERIODS * every)):
        return "silent", NOT_ASKED
    return ("unreachable", known.remedy) if row.trouble else ("reachable", "")


FRAGMENT = Fragment("settings.sources", "partials/settings_sources.html", sources, {"sources", "cycle"})
