"""Real receivers on this machine: a web server that answers as it is told to, and a mail server."""

import json
import socket
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller


@dataclass
class WebReceiver:
    """`answers` by path: (status, headers), or "never" for none at all; others get 200. `got`: (path, JSON).

    `users`: who was named, with the password, in the same order where anybody was. `reached`: it has got one.
    """

    port: int
    got: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    users: list[str] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=dict)
    reached: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def titles(self) -> list[str]:
        return [body["title"] for _, body in self.got]


@contextmanager
def web_receiver() -> Iterator[WebReceiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            receiver.got.append((self.path, body))
            if named := self.headers.get("Authorization", ""):
                receiver.users.append(b64decode(named.removeprefix("Basic ")).decode())
            receiver.reached.set()
            answer = receiver.answers.get(self.path, (200, {}))
            if answer == "never":
                receiver.ended.wait(60)
                self.close_connection = True
                return
            status, headers = answer
            self.send_response(status)
            for name, value in {"Content-Length": "0", **headers}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """The test tells what it wants to know."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = WebReceiver(server.server_port)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield receiver
    finally:
        receiver.ended.set()
        server.shutdown()
        server.server_close()


@dataclass
class MailReceiver:
    """`refuse`: what it answers to a message instead of taking it."""

    port: int = 0
    refuse: str = ""
    got: list[Any] = field(default_factory=list)

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        if self.refuse:
            return self.refuse
        self.got.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 OK"


@contextmanager
def mail_receiver() -> Iterator[MailReceiver]:
    receiver = MailReceiver(free_port())
    controller = Controller(receiver, hostname="127.0.0.1", port=receiver.port)
    controller.start()
    try:
        yield receiver
    finally:
        controller.stop()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
