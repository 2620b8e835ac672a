"""How long the actions page takes over a long history: each kind of question, on SQLite and PostgreSQL.

Fills a throwaway database (SQLite, and PostgreSQL where it is on this machine; DATABASE_URL's when that is set) with a
million actions, seals them, verifies the chain, and asks the page as a browser would. Exits 1 when the median of a
question is 100 ms or more of processor time: that of this process, and of PostgreSQL's for this connection.

    .venv/bin/python -m benchmarks.action_search [--actions 1000000] [--database sqlite|postgresql]

Filling takes minutes: `--keep FOLDER` keeps the SQLite database there and takes it up the next time; with DATABASE_URL
the history stays in that database, and is taken up as well. `--only WORD` asks only questions with the word in them.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.both_databases import on_both

LIMIT_MS = 100.0
REPEATS = 7
DAYS = 90
# One act that this many others followed from, and each second of those one more.
EFFECTS = 4_000
QUESTIONS = {
    "first page": "",
    "first page with routine": "?routine=shown",
    "the oldest page": "?before=0",
    "a page in the middle": "?after={middle}",
    "rare word": "?q=thunderbird",
    "rare word, oldest page": "?q=thunderbird&before=0",
    "no hit": "?q=nosuchwordatall",
    "very common word": "?q=capacity",
    "very common word, oldest page": "?q=capacity&before=0",
    "beginning of common words": "?q=cap",
    "two common words that never meet": "?q=booted+capacity",
    "a device": "?q=v5p-64",
    "a slice by its end": "?q={tail}",
    "an address": "?q=ana%40example.com",
    "kind": "?kind=drain",
    "target": "?target=pool+7",
    "actor": "?actor=ana%40example.com",
    "actor and kind": "?actor=ana%40example.com&kind=drain",
    "group and outcome": "?group=tpu_v5p-64-7&outcome=failed",
    "people": "?by=people",
    "people, common word": "?by=people&q=capacity",
    "kind and common word": "?kind=drain&q=capacity",
    "an old week": "?from={old}&to={older}",
    "an old week, kind": "?from={old}&to={older}&kind=drain",
    "an old week, common word": "?from={old}&to={older}&q=capacity",
    "an hour of today": "?span=1h",
    "a day, actor": "?from={day}&to={next_day}&actor=ana%40example.com",
    "a day, no hit": "?from={day}&to={next_day}&q=nosuchwordatall",
    "source": "?source=page",
    "slice": "?slice={slice}",
    "what followed from an act": "?cause={root}",
    "a word of routine rows alone": "?q=demand",
    "a word of routine rows, shown": "?q=demand&routine=shown",
}
# Beside the list: one act with thousands of effects, one with a cause, and the API.
PAGES = {
    "an act with thousands of effects": "/actions/{root}/",
    "an effect": "/actions/{effect}/",
    "the API": "/api/v1/actions",
    "the API, common word": "/api/v1/actions?q=capacity&limit=200",
    "the API, no hit": "/api/v1/actions?q=nosuchwordatall",
    "the API, kind and common word": "/api/v1/actions?kind=drain&q=capacity",
    "the API, words that never meet": "/api/v1/actions?q=booted+capacity",
    "the API, routine left out": "/api/v1/actions?q=demand&routine=false",
}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--actions", type=int, default=1_000_000)
    options.add_argument("--database", choices=["sqlite", "postgresql"])
    options.add_argument("--keep", type=Path, help="the folder of the SQLite database, made when it is not there")
    options.add_argument("--only", default="", help="only questions with this in their name")
    given = options.parse_args()
    if given.database is None and "DATABASE_URL" not in os.environ:
        return on_both("benchmarks.action_search")
    if given.keep is not None:
        given.keep.mkdir(parents=True, exist_ok=True)
    with nullcontext(given.keep) if given.keep else tempfile.TemporaryDirectory(prefix="iris-actions-") as state:
        os.environ |= {"IRIS_STATE_DIR": str(state), "IRIS_SECRET_KEY": "throwaway", "IRIS_LOG_LEVEL": "WARNING"}
        # What is measured is one core: no second one takes part of a question.
        os.environ["PGOPTIONS"] = "-c max_parallel_workers_per_gather=0"
        return measure(given.actions, given.only)


def measure(count: int, only: str) -> int:
    os.environ["DJANGO_SETTINGS_MODULE"] = "iris_web.settings"
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from scaling.models import Action

    call_command("migrate", verbosity=0)
    if not Action.objects.exists():
        _timed("written", count, lambda: fill(count))
        fill_effects()
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    if not only:
        seal_and_verify()
    print(f"\n{connection.vendor}: median and worst of {REPEATS}, in ms of processor time; the median on the clock")
    missed = [name for name, took in ask(only) if took >= LIMIT_MS]
    print(f"over {LIMIT_MS:.0f} ms: {', '.join(missed)}" if missed else f"each under {LIMIT_MS:.0f} ms")
    return int(bool(missed))


def _timed(what: str, count: int, work: Callable[[], Any]) -> None:
    clock, began = processor_clock(), time.perf_counter()
    started = clock()
    work()
    cpu, took = clock() - started, time.perf_counter() - began
    print(f"{what}: {count:,} in {took:.1f} s, {count / cpu:,.0f} a second of processor time", flush=True)


def processor_clock() -> Callable[[], float]:
    """Seconds of processor time so far: of this process, and of PostgreSQL's for this connection, if it is here."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return time.process_time
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        told = Path(f"/proc/{cursor.fetchone()[0]}/schedstat")
    return lambda: time.process_time() + int(told.read_text().split()[0]) / 1e9


def seal_and_verify() -> None:
    from scaling.audit.bounds import settled_id
    from scaling.audit.sealing import current_head, seal_new
    from scaling.audit.verifying import verify

    waiting = (settled_id() or 0) - current_head().through_id
    if waiting:
        _timed("sealed", waiting, lambda: seal_new(datetime.now(UTC), budget_seconds=3600))
    _timed("verified", current_head().through_id, verify)


def ask(only: str) -> Iterator[tuple[str, float]]:
    """(question, its median in ms of processor time) for each."""
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client()
    client.force_login(User.objects.filter(username="bench").first() or User.objects.create_superuser("bench"))
    words, token = _words(), _token()
    client.get("/actions/")
    clock = processor_clock()
    asked = {**{name: f"/actions/{query}" for name, query in QUESTIONS.items()}, **PAGES}
    for name, path in asked.items():
        if only in name:
            took = [_one(client, path.format(**words), token, clock) for _ in range(REPEATS)]
            cpu = [one for one, _ in took]
            print(f"  {name:36} {median(cpu):7.1f} {max(cpu):7.1f} {median(on for _, on in took):9.1f}", flush=True)
            yield name, median(cpu)


def _words() -> dict[str, Any]:
    """What the addresses leave open, of the history that is there."""
    from scaling.models import Action

    newest = Action.objects.filter(cause=None).latest("id")
    day = newest.at - timedelta(days=60)
    ready = Action.objects.filter(kind="slice_ready").order_by("id")[1000]
    effect = Action.objects.exclude(cause=None).order_by("-id").first()
    return {
        "middle": newest.pk // 2,
        "tail": ready.slice.rpartition("-")[2],
        "slice": ready.slice,
        "old": f"{day:%Y-%m-%d}",
        "older": f"{day + timedelta(days=7):%Y-%m-%d}",
        "day": f"{day:%Y-%m-%d}",
        "next_day": f"{day + timedelta(days=1):%Y-%m-%d}",
        "root": Action.objects.filter(kind="set_limits", reason="a change with many effects").latest("id").pk,
        "effect": effect.pk if effect else newest.pk,
    }


def _token() -> str:
    """The secret of a token that reads the API."""
    from django.utils.crypto import get_random_string

    from scaling.history import Actor
    from scaling.operations.tokens import create_token

    return create_token(Actor.user("bench"), f"bench-{get_random_string(8)}", "viewer")[1]


def _one(client: Any, path: str, token: str, clock: Callable[[], float]) -> tuple[float, float]:
    """Milliseconds of processor time, and on the clock."""
    began, started = time.perf_counter(), clock()
    answer = client.get(path, headers={"Authorization": f"Bearer {token}"} if path.startswith("/api/") else {})
    took = 1000 * (clock() - started), 1000 * (time.perf_counter() - began)
    if answer.status_code != 200:
        raise SystemExit(f"{path} answered {answer.status_code}")
    return took


def fill_effects() -> None:
    """One act that thousands followed from, as when a limit of a large installation is changed."""
    from scaling.models import Action

    chance, now = random.Random(8), datetime.now(UTC)
    root = Action.objects.create(at=now, kind="set_limits", actor_kind="user", actor="ana@example.com", source="page",
                                 group="tpu_v5p-64-7", reason="a change with many effects")  # fmt: skip
    level = [root]
    for many in (EFFECTS, EFFECTS // 2):
        causes = [root] * many if len(level) == 1 else level[::2]
        acts = [Action(at=now, cause=cause, **{**_slice_act(chance, "tpu_v5p-64-7", 0), "cycle": None})
                for cause in causes]  # fmt: skip
        level = Action.objects.bulk_create(acts, batch_size=1000)


def fill(count: int) -> None:
    """A history as a busy cluster writes it: mostly demand and slices that come and go, some people."""
    chance = random.Random(7)
    start = datetime.now(UTC) - timedelta(days=DAYS)
    step = timedelta(days=DAYS) / count
    with without_indexes():
        write({"at": start + step * n, **_one_action(chance, n)} for n in range(count))


@contextmanager
def without_indexes() -> Iterator[None]:
    """Indexes that are made when the rows are there take a fraction of the time."""
    from django.db import connection

    from scaling.audit import index
    from scaling.models import Action

    index.uninstall(connection)
    with connection.schema_editor() as editor:
        for one in Action._meta.indexes:
            editor.remove_index(Action, one)
    yield
    with connection.schema_editor() as editor:
        for one in Action._meta.indexes:
            editor.add_index(Action, one)
    index.install(connection)


def write(acts: Iterable[dict[str, Any]]) -> None:
    """Add actions as the database takes them fastest."""
    from django.db import connection, transaction

    columns = {"at": None, "kind": "", "actor_kind": "system", "actor": "iris", "source": "cycle", "group": "",
               "slice": "", "job": "", "target": "", "reason": "", "outcome": "ok", "before": None, "after": None,
               "cycle": None}  # fmt: skip
    names = ", ".join(f'"{name}"' for name in columns)
    rows = (tuple(_stored({**columns, **act}[name]) for name in columns) for act in acts)
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY scaling_action ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            holes = ", ".join(["%s"] * len(columns))
            while portion := list(islice(rows, 5000)):
                cursor.executemany(f"INSERT INTO scaling_action ({names}) VALUES ({holes})", portion)


def _stored(value: Any) -> Any:
    from django.db import connection

    if isinstance(value, dict):
        return json.dumps(value)
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value


_VARIANTS = ("tpu_v5p-64", "tpu_v5e-16", "tpu_v6e-8", "gpu_h100-8")


def _one_action(chance: random.Random, number: int) -> dict[str, Any]:
    group = f"{chance.choice(_VARIANTS)}-{chance.randrange(50)}"
    dice = chance.random()
    rare = " thunderbird" if number % 50_000 == 77 else ""
    if dice < 0.35:
        return {"kind": "demand", "actor_kind": "token", "actor": "slurm", "source": "api", "target": "source slurm",
                "reason": "the whole list", "after": {"jobs": number % 700}}  # fmt: skip
    if dice < 0.36:
        act = chance.choice(("drain", "undrain", "set_limits", "pause", "acknowledge"))
        who = chance.choice(("ana@example.com", "bo", "chris"))
        return {"kind": act, "actor_kind": "user", "actor": who, "source": "page", "group": group,
                "reason": f"maintenance of rack {number % 40}, capacity is moved{rare}",
                "before": {"max_slices": 8}, "after": {"max_slices": 12}}  # fmt: skip
    if dice < 0.37:
        return {"kind": "set_quota", "target": f"pool {number % 30}", "reason": f"learned limit{rare}"}
    return _slice_act(chance, group, number, rare)


def _slice_act(chance: random.Random, group: str, number: int, rare: str = "") -> dict[str, Any]:
    kind = chance.choice(("scale_up", "slice_ready", "slice_ready", "scale_down", "create_failed"))
    reason = {"scale_up": f"deficit of {number % 9} for job train-{number % 5000}", "slice_ready": "booted",
              "scale_down": "idle for 10 min, capacity is released",
              "create_failed": "There is no more capacity in the zone"}[kind]  # fmt: skip
    return {"kind": kind, "group": group, "slice": f"{group.replace('_', '-')}-{chance.getrandbits(32):08x}",
            "reason": reason + rare, "cycle": number // 20, "outcome": "failed" if kind == "create_failed" else "ok",
            "after": {"shape": group, "workers": 8}}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
