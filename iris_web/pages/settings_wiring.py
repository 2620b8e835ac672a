"""The settings page in one look: each thing that Iris is wired to, whether it answers, and what to do where not."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection

from iris_web import facts
from iris_web.access import Role
from iris_web.live.fragments import Context, Fragment, Params
from iris_web.pages import health, settings_notices, settings_sources, words
from scaling import clock
from scaling.models import Heartbeat
from scaling.once import fact

# The row that a task of the queue keeps fresh, every two seconds.
QUEUE = "queue"
QUEUE_SILENT = timedelta(seconds=15)
_WELL = frozenset({"ok", "never"})


@dataclass(frozen=True, slots=True)
class Wire:
    """One thing: its verdict (a row of the HEALTH looks) in one sentence, since or at when, and what to do."""

    name: str
    code: str
    text: str
    url: str
    todo: str = ""
    at: datetime | None = None


def wiring(_params: Params, _role: Role) -> Context:
    """Eight queries, of which the other cards of the page ask none again."""
    now = clock.now()
    found = [*_database(), *_loops(now), *_queue(now), *_platforms(), *_sources(now), *_notices(now)]
    found += _links()
    bad = [wire for wire in found if wire.code in ("failed", "silent", "unreachable", "aborted", "late", "unset")]
    return {"wires": found, "bad": len(bad)}


@fact
def heartbeats() -> list[Heartbeat]:
    """By name. One query."""
    return list(Heartbeat.objects.order_by("name"))


def _database() -> Iterator[Wire]:
    """Where it does not answer there is no page; how long a small question takes can still be told."""
    began = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()
    took_ms = 1000 * (time.perf_counter() - began)
    yield Wire("Database", "reachable", f"It answers in {took_ms:.1f} ms.", "#database")


def _loops(now: datetime) -> Iterator[Wire]:
    judged = health.loops(now)
    wrong = [row for row in judged if row.code not in _WELL]
    if not judged:
        yield Wire("Loops", "unknown", "None has been started.", "#loops", "Run manage.py up, or a ticker.")
    elif wrong:
        named = ", ".join(row.loop.name for row in wrong[:3]) + (f" and {len(wrong) - 3} more" if wrong[3:] else "")
        worst = next((row for row in wrong if row.code == "silent"), wrong[0])
        todo = "See its error below." if worst.error else "See whether ticker and worker run: manage.py status."
        yield Wire("Loops", worst.code, f"{named}: not as it should be.", "#loops", todo, worst.loop.last_finished_at)
    else:
        yield Wire("Loops", "ok", f"All {len(judged)} keep their periods.", "#loops")


def _queue(now: datetime) -> Iterator[Wire]:
    at = next((row.at for row in heartbeats() if row.name == QUEUE), None)
    if at is None:
        yield Wire("Worker", "unknown", "No task has run yet.", "#loops")
    elif now - at > QUEUE_SILENT:
        todo = "Start a worker: up does, and restarts it; its log is worker.log in the data folder."
        yield Wire("Worker", "silent", "No task has run lately.", "#loops", todo, at)
    else:
        yield Wire("Worker", "ok", "Runs the tasks of the queue.", "#loops", at=at)


def _platforms() -> Iterator[Wire]:
    for row in facts.platforms():
        name = f"Platform {row.name}"
        if row.unreachable_since is not None or row.aborts_in_a_row:
            text = row.last_error or "It cannot be listed."
            todo = "Check credentials and network; nothing is bought or released there until it can be listed."
            yield Wire(name, "unreachable", text, "#platforms", todo, row.unreachable_since or row.listed_at)
        elif row.listed_at is None:
            yield Wire(name, "unknown", "It has not been listed yet.", "#platforms")
        else:
            kind = "The simulated cloud answers." if row.is_simulated else "It can be listed."
            yield Wire(name, "reachable", kind, "#platforms", at=row.listed_at)


def _sources(now: datetime) -> Iterator[Wire]:
    """The worst that an instance sees of each."""
    told: set[str] = set()
    for source in settings_sources.rows(now):
        if source.name in told:
            continue
        told.add(source.name)
        row = source.row
        if row is None:
            yield Wire(source.known.label, "unknown", "It has not been asked yet.", "#sources")
        elif source.code == "unreachable":
            yield Wire(source.known.label, source.code, row.trouble, "#sources", source.todo, row.since)
        else:
            text = "It answers." if source.code == "reachable" else "It has not been asked lately."
            yield Wire(source.known.label, source.code, text, "#sources", source.todo, row.asked_at)


def _notices(now: datetime) -> Iterator[Wire]:
    looked_at = settings_notices.watched_at()
    channels = [row for row in settings_notices.channel_rows() if row.code != "off"]
    failing = [row for row in channels if row.code == "failed"]
    if looked_at is not None and now - looked_at > settings_notices.WATCH_SILENT:
        todo = "See whether web and ticker run."
        yield Wire("Notices", "silent", "Nobody looks for news.", "#notices", todo, looked_at)
    elif not channels:
        todo = "Make a channel in the admin, or set IRIS_NOTICE_URLS."
        yield Wire("Notices", "off", "There is no channel: nobody away from these pages is told.", "#notices", todo)
    elif failing:
        text = f"{failing[0].channel.name}: {failing[0].channel.last_error}."
        todo = "Check the channel's address, and test it."
        yield Wire("Notices", "failed", text, "#notices", todo, failing[0].channel.last_failed_at)
    else:
        yield Wire("Notices", "ok", f"{words.plural(len(channels), 'channel')} in use.", "#notices", at=looked_at)


def _links() -> Iterator[Wire]:
    """Whether who is told of something can follow the link; nobody is told of anything without a channel."""
    if all(row.code == "off" for row in settings_notices.channel_rows()):
        return
    if settings.IRIS_SITE_URL:
        yield Wire("Links of notices", "ok", f"They lead to {settings.IRIS_SITE_URL}.", "#configuration")
    else:
        text = "Notices have no links, they say where in Iris to look."
        todo = "Set IRIS_SITE_URL to this site's address, such as https://iris.example."
        yield Wire("Links of notices", "unset", text, "#configuration", todo)


FRAGMENT = Fragment(
    "settings.wiring", "partials/settings_wiring.html", wiring, {"platforms", "cycle", "loops", "sources", "notices"}
)
