"""How long the actions page takes over a long history: each kind of question, on SQLite and PostgreSQL.

Fills a throwaway database (SQLite, and PostgreSQL where it is on this machine; DATABASE_URL's when that is set) with a
million actions, seals them, verifies the chain, and asks the page as a browser would. Exits 1 when the median of a
question is 100 ms or more.

    .venv/bin/python -m benchmarks.action_search [--actions 1000000] [--database sqlite|postgresql]
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

LIMIT_MS = 100.0
REPEATS = 7
DAYS = 90
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
    "routine word": "?q=demand",
}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--actions", type=int, default=1_000_000)
    options.add_argument("--database", choices=["sqlite", "postgresql"])
    given = options.parse_args()
    if given.database is None and "DATABASE_URL" not in os.environ:
        return _both(given.actions)
    with tempfile.TemporaryDirectory(prefix="iris-actions-") as state:
        os.environ |= {"IRIS_STATE_DIR": state, "IRIS_SECRET_KEY": "throwaway", "IRIS_LOG_LEVEL": "WARNING"}
        return measure(given.actions)


def _both(actions: int) -> int:
    from tests.services.postgres import postgres
    from tests.services.programs import MissingProgramError

    command = [sys.executable, "-m", "benchmarks.action_search", "--actions", str(actions), "--database"]
    missed = subprocess.run([*command, "sqlite"]).returncode
    try:
        with postgres() as url:
            missed |= subprocess.run([*command, "postgresql"], env=os.environ | {"DATABASE_URL": url}).returncode
    except MissingProgramError as program:
        print(f"not measured on PostgreSQL: {program} is not on this machine")
    return missed


def measure(count: int) -> int:
    os.environ["DJANGO_SETTINGS_MODULE"] = "iris_web.settings"
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from scaling.models import Action

    call_command("migrate", verbosity=0)
    if not Action.objects.exists():
        _timed("written", count, lambda: fill(count))
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    seal_and_verify(count)
    print(f"\n{connection.vendor}, {count:,} actions: median and worst of {REPEATS}, in ms of the server")
    missed = [name for name, took in ask() if took >= LIMIT_MS]
    print(f"over {LIMIT_MS:.0f} ms: {', '.join(missed)}" if missed else f"each under {LIMIT_MS:.0f} ms")
    return int(bool(missed))


def _timed(what: str, count: int, work: Any) -> None:
    started = time.perf_counter()
    work()
    took = time.perf_counter() - started
    print(f"{what}: {count:,} in {took:.1f} s, {count / took:,.0f} a second", flush=True)


def seal_and_verify(count: int) -> None:
    from scaling.audit.sealing import seal_new
    from scaling.audit.verifying import verify

    _timed("sealed", count, lambda: seal_new(datetime.now(UTC), budget_seconds=3600))
    _timed("verified", count, verify)


def ask() -> Iterator[tuple[str, float]]:
    """(question, its median in ms) for each."""
    from django.contrib.auth.models import User
    from django.test import Client

    from scaling.models import Action

    client = Client()
    client.force_login(User.objects.filter(username="bench").first() or User.objects.create_superuser("bench"))
    newest = Action.objects.latest("id")
    day = newest.at - timedelta(days=60)
    words = {
        "middle": newest.pk // 2,
        "tail": Action.objects.filter(kind="slice_ready").order_by("id")[1000].slice.rpartition("-")[2],
        "old": f"{day:%Y-%m-%d}",
        "older": f"{day + timedelta(days=7):%Y-%m-%d}",
    }
    client.get("/actions/")
    for name, query in QUESTIONS.items():
        took = [_one(client, f"/actions/{query.format(**words)}") for _ in range(REPEATS)]
        print(f"  {name:36} {median(took):7.1f} {max(took):7.1f}", flush=True)
        yield name, median(took)


def _one(client: Any, path: str) -> float:
    started = time.perf_counter()
    answer = client.get(path)
    took = 1000 * (time.perf_counter() - started)
    if answer.status_code != 200:
        raise SystemExit(f"{path} answered {answer.status_code}")
    return took


def fill(count: int) -> None:
    """A history as a busy cluster writes it: mostly demand and slices that come and go, some people."""
    from scaling.models import Action

    chance = random.Random(7)
    start = datetime.now(UTC) - timedelta(days=DAYS)
    step = timedelta(days=DAYS) / count
    for first in range(0, count, 5000):
        Action.objects.bulk_create(
            [Action(at=start + step * n, **_one_action(chance, n)) for n in range(first, min(first + 5000, count))]
        )


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
    kind = chance.choice(("scale_up", "slice_ready", "slice_ready", "scale_down", "create_failed"))
    reason = {"scale_up": f"deficit of {number % 9} for job train-{number % 5000}", "slice_ready": "booted",
              "scale_down": "idle for 10 min, capacity is released",
              "create_failed": "There is no more capacity in the zone"}[kind]  # fmt: skip
    return {"kind": kind, "group": group, "slice": f"{group.replace('_', '-')}-{chance.getrandbits(32):08x}",
            "reason": reason + rare, "cycle": number // 20, "outcome": "failed" if kind == "create_failed" else "ok",
            "after": {"shape": group, "workers": 8}}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
