"""How soon an event is at every open page: from its insert to its receipt, over many sockets, with one core to serve.

Starts a web process of its own on a throwaway database (SQLite, or DATABASE_URL), pins it to one core together with the
writer of events, opens the sockets from another process' side, and prints what was received and how long it took.
Exits 1 when an event was missed or doubled, or when the 95th percentile is 100 ms or more.

    .venv/bin/python -m benchmarks.sockets [--sockets 500] [--rate 5] [--seconds 20] [--fragments]
"""

import argparse
import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LIMIT_MS = 100.0
TOPIC = "group:bench"
USER = "bench"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sockets", type=int, default=500)
    options.add_argument("--rate", type=float, default=5, help="events per second")
    options.add_argument("--seconds", type=float, default=20)
    options.add_argument("--fragments", action="store_true", help="each page also shows the parts of the overview")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="iris-sockets-") as state:
        os.environ |= {"IRIS_STATE_DIR": state, "IRIS_SECRET_KEY": "throwaway", "IRIS_LOG_LEVEL": "WARNING"}
        cookie = prepare()
        with web_process() as (url, process):
            return asyncio.run(measure(given, url, cookie, process))


def prepare() -> str:
    """A migrated database with one signed-in user; returns the cookie."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "iris_web.settings"
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.test import Client

    call_command("migrate", verbosity=0)
    client = Client()
    client.force_login(User.objects.filter(username=USER).first() or User.objects.create_superuser(USER))
    return f"sessionid={client.cookies['sessionid'].value}"


@contextmanager
def web_process() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A uvicorn on a free port, kept to the first core."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "iris_web.asgi:application", "--port", str(port), "--lifespan", "off"]
    process = subprocess.Popen([*command, "--log-level", "warning", "--no-access-log"])
    try:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(process.pid, {0})
        wait_for(f"http://127.0.0.1:{port}/login/", process)
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            urllib.request.urlopen(url, timeout=1).close()
            return
        except (urllib.error.URLError, OSError):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("the web process did not start") from None
            time.sleep(0.1)


async def measure(given: argparse.Namespace, url: str, cookie: str, process: subprocess.Popen[bytes]) -> int:
    from websockets.asyncio.client import connect

    delays: list[float] = []
    counts: list[dict[int, int]] = [{} for _ in range(given.sockets)]
    hello = json.dumps({"type": "hello", "cursor": await asyncio.to_thread(head), "topics": [TOPIC], **shown(given)})
    target = f"{url.replace('http', 'ws', 1)}/ws/live"
    ready = asyncio.Semaphore(0)

    async def page(number: int) -> None:
        async with connect(target, origin=url, additional_headers={"Cookie": cookie}, ping_interval=None) as one:  # type: ignore[arg-type]
            await one.send(hello)
            async for text in one:
                now = time.time()
                if '"type":"welcome"' in text:  # type: ignore[operator]
                    ready.release()
                elif '"type":"events"' in text:  # type: ignore[operator]
                    for event in json.loads(text)["events"]:
                        n = event["payload"]["n"]
                        counts[number][n] = counts[number].get(n, 0) + 1
                        delays.append(1000 * (now - event["payload"]["sent"]))

    pages = [asyncio.create_task(page(number)) for number in range(given.sockets)]
    for _ in pages:
        await asyncio.wait_for(ready.acquire(), 60)
    before, began = cpu_seconds(process.pid), time.monotonic()
    events = int(given.rate * given.seconds)
    await asyncio.to_thread(write, events, given.rate)
    for _ in range(100):
        if len(delays) >= events * given.sockets:
            break
        await asyncio.sleep(0.1)
    used, lasted = cpu_seconds(process.pid) - before, time.monotonic() - began
    for task in pages:
        task.cancel()
    await asyncio.gather(*pages, return_exceptions=True)
    return report(given, delays, counts, events, used / lasted)


def shown(given: argparse.Namespace) -> dict[str, object]:
    names = ("overview.numbers", "overview.capacity", "overview.stockouts", "overview.loops") if given.fragments else ()
    return {"fragments": [{"name": name, "params": {}} for name in names]}


def head() -> str:
    from scaling import feed

    return str(feed.head())


def write(events: int, rate: float) -> None:
    from django.db import connection

    from scaling import feed

    start = time.monotonic()
    for n in range(events):
        time.sleep(max(0.0, start + n / rate - time.monotonic()))
        feed.publish(TOPIC, "bench", {"n": n, "sent": time.time()})
    connection.close()


def cpu_seconds(pid: int) -> float:
    """User and system time that a process has used so far; 0 where /proc is missing."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return 0.0
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def report(
    given: argparse.Namespace, delays: list[float], counts: list[dict[int, int]], events: int, load: float
) -> int:
    missed = sum(events - len(one) for one in counts)
    doubled = sum(times - 1 for one in counts for times in one.values())
    ordered = sorted(delays) or [float("inf")]
    p50, p95 = (ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.5, 0.95))
    received = f"{len(delays)} received, {missed} missed, {doubled} doubled"
    print(f"{given.sockets} sockets, {events} events at {given.rate:g}/s: {received}")
    print(f"insert to receive: p50 {p50:.1f} ms, p95 {p95:.1f} ms (limit {LIMIT_MS:g}), max {ordered[-1]:.1f} ms")
    print(f"web process: {100 * load:.0f} % of one core")
    return int(bool(missed or doubled or p95 >= LIMIT_MS))


if __name__ == "__main__":
    sys.exit(main())
