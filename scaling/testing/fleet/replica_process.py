"""One replica as a process of its own: a real HTTP endpoint with its histogram. Standard library only, to stay small.

It holds the other end of a channel from the fleet: it tells its port once, then each message is `{"counters", "sum"}`,
its histogram so far, and is acknowledged by a byte, which is its health check. The end of the channel ends the process.
"""

import json
import os
import selectors
import socket
from contextlib import suppress

from scaling.testing.fleet.latency import BUCKETS_MS

METRIC = "lyceum_inference_latency_millis"
CLIENT_SECONDS = 1.0
LARGEST_REQUEST = 8192
LARGEST_MESSAGE = 1 << 16


def metrics_text(deployment_id: str, counters: list[int], latency_sum_ms: float) -> str:
    """The histogram in the Prometheus text format."""
    label = deployment_id.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    bounds = [*(f"{bound:g}" for bound in BUCKETS_MS), "+Inf"]
    return "\n".join(
        [
            f"# HELP {METRIC} Latency of requests in milliseconds.",
            f"# TYPE {METRIC} histogram",
            *(
                f'{METRIC}_bucket{{deployment_id="{label}",le="{bound}"}} {count}'
                for bound, count in zip(bounds, counters, strict=True)
            ),
            f'{METRIC}_sum{{deployment_id="{label}"}} {latency_sum_ms:.3f}',
            f'{METRIC}_count{{deployment_id="{label}"}} {counters[-1]}',
            "",
        ]
    )


class ReplicaProcess:
    """Runs until its channel ends."""

    def __init__(self, deployment_id: str, channel: socket.socket) -> None:
        self._deployment_id = deployment_id
        self._channel = channel
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._counters = [0] * (len(BUCKETS_MS) + 1)
        self._latency_sum_ms = 0.0

    def run(self) -> None:
        self._channel.sendall(
            json.dumps({"port": self._listening.getsockname()[1], "pid": os.getpid()}).encode() + b"\n"
        )
        with selectors.DefaultSelector() as ready:
            ready.register(self._channel, selectors.EVENT_READ)
            ready.register(self._listening, selectors.EVENT_READ)
            while True:
                for key, _ in ready.select():
                    if key.fileobj is self._channel:
                        if not self._hear():
                            return
                    else:
                        self._answer()

    def _hear(self) -> bool:
        """Take what the fleet says; false when it is gone."""
        heard = self._channel.recv(LARGEST_MESSAGE)
        if heard:
            latest = json.loads(heard)
            self._counters, self._latency_sum_ms = latest["counters"], latest["sum"]
            self._channel.send(b".")
        return bool(heard)

    def _answer(self) -> None:
        """One request, then the connection is closed."""
        with suppress(OSError, ValueError, IndexError):
            client, _ = self._listening.accept()
            with client:
                client.settimeout(CLIENT_SECONDS)
                request = b""
                while b"\r\n\r\n" not in request and len(request) < LARGEST_REQUEST:
                    heard = client.recv(LARGEST_REQUEST)
                    if not heard:
                        return
                    request += heard
                client.sendall(self._response(request.split(b" ", 2)[1].partition(b"?")[0]))

    def _response(self, path: bytes) -> bytes:
        if path == b"/metrics":
            status, body = "200 OK", metrics_text(self._deployment_id, self._counters, self._latency_sum_ms)
        elif path == b"/healthz":
            status, body = "200 OK", "ok\n"
        else:
            status, body = "404 Not Found", "there are /metrics and /healthz\n"
        content = body.encode()
        head = (
            f"HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
            f"Content-Length: {len(content)}\r\nConnection: close\r\n\r\n"
        )
        return head.encode() + content
