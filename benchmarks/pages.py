"""How long every page takes on a large installation, on SQLite and on PostgreSQL, and how soon a browser shows it.

Fills a throwaway database with 2,000 groups, 10,000 jobs, 5,000 deployments and 1,000,000 actions, and asks for every
page as a person would: lists by all their questions (a rare word, a word that is nowhere, the last page), single
things, previews of acts, the admin, the API's lists. Prints for each the 95th percentile and the median of the server's
time, the median of the processor's time in it, and the number of statements; then what the planner takes for a preview,
for which no page waits; then, where Chromium is on this machine, when the pages first paint. What is kept for moments
(the text of /metrics, what previews are compared with) is made anew for each answer. Exits 1 when a page's p95 is
150 ms or more, that of /metrics a second, of a preview five seconds, or when a page first paints after a second.

    .venv/bin/python -m benchmarks.pages [--database sqlite|postgresql] [--actions 1000000] [--only /groups/]

`--state <directory>` keeps what is filled on SQLite there, and a later run begins with what it finds in it.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median, quantiles
from typing import Any

from benchmarks.action_search import fill
from benchmarks.both_databases import on_both

LIMIT_MS = 150.0
# What nobody looks at while it is made: Prometheus' scrape, and what the planner says beside a form that is there.
METRICS_LIMIT_MS = 1000.0
PREVIEW_LIMIT_MS = 5000.0
PAINT_LIMIT_MS = 1000.0
REPEATS, PREVIEW_REPEATS = 15, 3
USER = "bench"
GROUPS, JOBS, DEPLOYMENTS, ACTIONS = 2_000, 10_000, 5_000, 1_000_000


@dataclass(frozen=True, slots=True)
class Took:
    """One page: the server's milliseconds on the clock and of the processor, and statements."""

    path: str
    times: tuple[float, ...]
    processor: tuple[float, ...]
    statements: int

    @property
    def p95(self) -> float:
        return quantiles(self.times, n=20, method="inclusive")[-1]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--database", choices=["sqlite", "postgresql"])
    options.add_argument("--actions", type=int, default=ACTIONS)
    options.add_argument("--only", default="", help="only addresses that begin so")
    options.add_argument("--no-browser", action="store_true")
    options.add_argument("--state", help="a directory that keeps what is filled on SQLite for the next run")
    given = options.parse_args()
    if given.database is None and "DATABASE_URL" not in os.environ:
        return on_both("benchmarks.pages")
    with nullcontext(given.state) if given.state else tempfile.TemporaryDirectory(prefix="iris-pages-") as state:
        os.makedirs(state, exist_ok=True)
        os.environ |= {"IRIS_STATE_DIR": state, "IRIS_SECRET_KEY": "throwaway", "IRIS_LOG_LEVEL": "WARNING"}
        return measure(given)


def measure(given: argparse.Namespace) -> int:
    os.environ["DJANGO_SETTINGS_MODULE"] = "iris_web.settings"
    import django

    django.setup()
    from django.db import connection
    from django.test import Client

    began = time.perf_counter()
    prepare(given.actions)
    print(f"{connection.vendor}: filled in {time.perf_counter() - began:.0f} s", flush=True)
    client = Client()
    from django.contrib.auth.models import User

    import iris_web.asgi  # noqa: F401 - as a web process has it, with all that it loads and sets
    from iris_web.metrics import Kept
    from scaling.previews import base

    Kept.SECONDS = base.KEPT_SECONDS = 0.0
    client.force_login(User.objects.get(username=USER))
    api = {"Authorization": f"Bearer {token()}"}
    paths = [path for path in pages() if path.startswith(given.only)]
    print(f"{'p95 ms':>8} {'median':>8} {'processor':>10} {'statements':>11}  page of {connection.vendor}")
    took = [told(ask(client, path, api if path.startswith("/api/") else {})) for path in paths]
    for path in previews() if not given.only else ():
        took.append(told(ask(client, path, {}, repeats=PREVIEW_REPEATS)))
    missed = [f"{one.path} ({one.p95:.0f} ms)" for one in took if one.p95 >= limit_of(one.path)]
    if not given.no_browser:
        missed += paints(client.cookies["sessionid"].value)
    print(f"over the limit: {'; '.join(missed)}" if missed else "everything within its limit")
    return int(bool(missed))


def limit_of(path: str) -> float:
    if path == "/metrics":
        return METRICS_LIMIT_MS
    return PREVIEW_LIMIT_MS if path.endswith("?preview=part") else LIMIT_MS


def told(one: Took) -> Took:
    """The same, once its line is printed."""
    amounts = f"{one.p95:8.1f} {median(one.times):8.1f} {median(one.processor):10.1f} {one.statements:11}"
    print(f"{amounts}  {one.path}", flush=True)
    return one


def prepare(actions: int) -> None:
    """The installation: everything written as of now, so that nothing looks stale; one that is there is kept."""
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.db import connection, transaction

    from scaling.testing import builders, sample_cluster, sample_deployments

    call_command("migrate", verbosity=0)
    if User.objects.filter(username=USER).exists():
        refresh(datetime.now(UTC))
        return
    User.objects.create_superuser(USER)
    fill(actions)
    now = datetime.now(UTC)
    with transaction.atomic():
        sample_cluster.wide_cluster(now, groups=GROUPS, jobs=JOBS)
        sample_deployments.fleet(now, DEPLOYMENTS)
        for name in ("scaler@iris-1", "manager@iris-1", "syncer", "lifecycle"):
            builders.make_loop(name, now)
        fill_chart(now)
    refresh(now)
    with connection.cursor() as cursor:
        # As the database of an installation that has run for a while: PostgreSQL does this by itself, a minute later.
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")


def refresh(now: datetime) -> None:
    """What a cluster that runs would have written just now; and whoever is busy has tasks, of another scheduler."""
    from scaling.models import Cycle, Loop, Scaler, Slice, Worker

    Loop.objects.update(last_started_at=now, last_finished_at=now)
    Cycle.objects.update(started_at=now)
    Slice.objects.filter(state__in=("REQUESTING", "BOOTING")).update(requested_at=now - timedelta(seconds=60))
    Slice.objects.filter(idle_since__isnull=False).update(idle_since=now - timedelta(seconds=60))
    Worker.objects.filter(idle_since__isnull=False).update(idle_since=now - timedelta(seconds=60))
    Worker.objects.filter(state="READY", idle_since=None, tasks=None).update(reported_tasks=1)
    Scaler.objects.exclude(holder="").update(ticked_at=now, expires_at=now + timedelta(hours=1))


def fill_chart(now: datetime) -> None:
    """A week in which something of the group differed in every minute: its chart has no more points to read."""
    from scaling.models import GroupSample

    group, minute = chosen_group(), now.replace(second=0, microsecond=0)
    GroupSample.objects.bulk_create(
        GroupSample(
            group=group, at=minute - timedelta(minutes=ago), ready=ago % 7, in_flight=ago % 3, demand=ago % 9,
            max_slices=12,
        )
        for ago in range(7 * 24 * 60)
    )  # fmt: skip


def chosen_group() -> Any:
    """One with a failure remembered, if there is such a one."""
    from scaling.models import Group

    return Group.objects.exclude(markers=None).order_by("name").first() or Group.objects.order_by("name")[0]


def pages() -> Iterator[str]:
    """Every address that is asked for."""
    from scaling.models import Action, Deployment, Job, Slice

    group = chosen_group()
    slice_ = Slice.objects.order_by("name")[0]
    waiting = Job.objects.exclude(hint=None).order_by("id")[0]
    waiting_key = f"{waiting.source}:{waiting.job_id}"
    deployment = Deployment.objects.order_by("id")[0]
    newest = Action.objects.latest("id")
    day = newest.at - timedelta(days=40)
    yield "/"
    yield from (f"/groups/{query}" for query in ("", "?q=v5p", "?q=nosuchgroup", "?sort=-ready", "?page=40"))
    yield from (f"/groups/{group.name}/{act}" for act in ("", "series?range=7d", "drain/", "pause/", "limits/"))
    yield from (f"/slices/{slice_.name}/{act}" for act in ("", "drain/"))
    yield from (f"/demand/{query}" for query in ("", "?q=nosuchjob", f"?q={waiting_key}", "?before=0"))
    yield f"/demand/{waiting_key}/"
    yield "/stockouts/"
    yield from (f"/deployments/{query}" for query in ("", "?q=model-4321", "?q=nosuchmodel", "?sort=name"))
    yield from (f"/deployments/{deployment.deployment_id}/{act}" for act in ("", "series", "pause/", "scale/", "edit/"))
    yield from (f"/actions/{query}" for query in ("", "?q=thunderbird", "?q=nosuchword", "?q=capacity", "?before=0"))
    yield from (f"/actions/{query}" for query in ("?kind=drain&q=capacity", "?by=people", f"?from={day:%Y-%m-%d}"))
    yield f"/actions/{newest.pk}/"
    yield from (f"/search/?q={word}" for word in ("v5p", "model-43", "nosuchthing", str(newest.pk)))
    yield "/settings/"
    yield from (f"/admin/{model}" for model in ("", "scaling/group/", "scaling/deployment/", "scaling/quotapool/"))
    yield from (f"/api/v1/{name}" for name in ("status", "groups", "slices", "markers", "actions", "deployments"))
    yield from ("/readyz", "/metrics")


def previews() -> Iterator[str]:
    """What pages of acts load once they are shown."""
    from scaling.models import Group

    group = Group.objects.order_by("name")[0]
    yield from (f"/groups/{group.name}/{act}/?preview=part" for act in ("drain", "pause"))


def token() -> str:
    """A new API token's text."""
    from scaling.history import Actor
    from scaling.operations import create_token

    return create_token(Actor.user(USER), f"bench {time.time()}", "viewer")[1]


def ask(client: Any, path: str, headers: dict[str, str], repeats: int = REPEATS) -> Took:
    """So many answers after a first one, which is not counted."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as asked:
        answer = client.get(path, headers=headers)
        answer.getvalue()
    statements = len(asked)  # the log is emptied by the next request
    # No cycle runs here, so that after half a minute it is right to say that none is ready.
    if answer.status_code not in (200, 302) and path != "/readyz":
        raise SystemExit(f"{path} answered {answer.status_code}")
    times, processor = [], []
    for _ in range(repeats):
        began, worked = time.perf_counter(), time.process_time()
        client.get(path, headers=headers).getvalue()
        times.append(1000 * (time.perf_counter() - began))
        processor.append(1000 * (time.process_time() - worked))
    return Took(path, tuple(times), tuple(processor), statements)


def paints(cookie: str) -> list[str]:
    """When the main pages first show something useful in Chromium, each in a page of its own with an empty cache."""
    from playwright.sync_api import sync_playwright

    from benchmarks.sockets import web_process
    from tests.services.chromium import ARGUMENTS, executable

    missed = []
    with web_process() as (url, _process), sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable(), args=list(ARGUMENTS))
        for path in ("/", "/groups/", "/demand/", "/deployments/", "/actions/", "/stockouts/", "/settings/"):
            context = browser.new_context()
            context.add_cookies([{"name": "sessionid", "value": cookie, "url": url}])
            page = context.new_page()
            page.goto(url + path)
            first = page.evaluate(
                "() => performance.getEntriesByName('first-contentful-paint').map(it => it.startTime)[0]"
            )
            context.close()
            print(f"{first:8.0f} ms to the first paint of {path}", flush=True)
            if first is None or first >= PAINT_LIMIT_MS:
                missed.append(f"{path} (first paint after {first} ms)")
        browser.close()
    return missed


if __name__ == "__main__":
    sys.exit(main())
