"""How soon an event is at every open page: from its insert to its receipt, over many sockets, with one core to serve.

Starts a web process of its own on a throwaway database (SQLite, or DATABASE_URL), pins it to one core, opens the
sockets from this process, and prints what was received and how long it took.
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
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

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


class Page(asyncio.Protocol):
    """The client's end of a websocket, cheap enough that five hundred of them do not measure themselves.

    Reads unmasked, unfragmented frames, as our server sends them; answers pings.
    """

    def __init__(self, request: bytes, hello: str) -> None:
        self.request, self.hello = request, hello
        self.buffer = bytearray()
        self.ready = asyncio.get_running_loop().create_future()
        self.counts: Counter[int] = Counter()
        self.delays: list[float] = []
        self.open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        now = time.time()
        self.buffer += data
        if not self.open:
            head, found, rest = bytes(self.buffer).partition(b"\r\n\r\n")
            if not found:
                return
            if b" 101 " not in head:
                raise SystemExit(f"the socket was refused: {head[:60]!r}")
            self.open, self.buffer = True, bytearray(rest)
            self.transport.write(frame(0x1, self.hello.encode()))
        while (taken := take_frame(self.buffer)) is not None:
            self.hear(*taken, now)

    def hear(self, opcode: int, body: bytes, now: float) -> None:
        if opcode == 0x9:
            self.transport.write(frame(0xA, body))
        elif body.startswith(b'{"type":"welcome"') and not self.ready.done():
            self.ready.set_result(None)
        elif body.startswith(b'{"type":"events"'):
            for event in json.loads(body)["events"]:
                self.counts[event["payload"]["n"]] += 1
                self.delays.append(1000 * (now - event["payload"]["sent"]))


def frame(opcode: int, body: bytes) -> bytes:
    """A masked client frame; the mask is zero."""
    length = bytes([0x80 | len(body)]) if len(body) < 126 else b"\xfe" + len(body).to_bytes(2)
    return bytes([0x80 | opcode]) + length + bytes(4) + body


def take_frame(buffer: bytearray) -> tuple[int, bytes] | None:
    """Take the first whole server frame out of the buffer: its opcode and body."""
    if len(buffer) < 2:
        return None
    size, start = buffer[1], 2
    if size > 125:
        start = 4 if size == 126 else 10
        size = int.from_bytes(buffer[2:start])
    if len(buffer) < start + size:
        return None
    opcode, body = buffer[0] & 0x0F, bytes(buffer[start : start + size])
    del buffer[: start + size]
    return opcode, body


async def measure(given: argparse.Namespace, url: str, cookie: str, process: subprocess.Popen[bytes]) -> int:
    host, port = url.removeprefix("http://").split(":")
    request = (
        f"GET /ws/live HTTP/1.1\r\nHost: {host}:{port}\r\nOrigin: {url}\r\nCookie: {cookie}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    ).encode()
    hello = json.dumps({"type": "hello", "cursor": await asyncio.to_thread(head), "topics": [TOPIC], **shown(given)})
    loop = asyncio.get_running_loop()
    pages = []
    for _ in range(given.sockets):
        _, page = await loop.create_connection(lambda: Page(request, hello), host, int(port))
        await asyncio.wait_for(page.ready, 60)
        pages.append(page)
    before, began = cpu_seconds(process.pid), time.monotonic()
    events = int(given.rate * given.seconds)
    await asyncio.to_thread(write, events, given.rate)
    for _ in range(100):
        if all(len(page.delays) >= events for page in pages):
            break
        await asyncio.sleep(0.1)
    used, lasted = cpu_seconds(process.pid) - before, time.monotonic() - began
    for page in pages:
        page.transport.abort()
    return report(given, [delay for page in pages for delay in page.delays], pages, events, used / lasted)


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


def report(given: argparse.Namespace, delays: list[float], pages: list[Page], events: int, load: float) -> int:
    missed = sum(events - len(page.counts) for page in pages)
    doubled = sum(times - 1 for page in pages for times in page.counts.values())
    ordered = sorted(delays) or [float("inf")]
    p50, p95 = (ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.5, 0.95))
    received = f"{len(delays)} received, {missed} missed, {doubled} doubled"
    print(f"{given.sockets} sockets, {events} events at {given.rate:g}/s: {received}")
    print(f"insert to receive: p50 {p50:.1f} ms, p95 {p95:.1f} ms (limit {LIMIT_MS:g}), max {ordered[-1]:.1f} ms")
    print(f"web process: {100 * load:.0f} % of one core")
    return int(bool(missed or doubled or p95 >= LIMIT_MS))


if __name__ == "__main__":
    sys.exit(main())
