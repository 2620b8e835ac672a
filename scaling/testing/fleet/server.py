"""The fleet over HTTP: the Gateway's API, what tests look at and change, and the stand-in for Prometheus."""

import json
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from hmac import compare_digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from scaling.stopping import StopRequest
from scaling.testing.fleet import standin
from scaling.testing.fleet.faults import BadFault, Fault, Faults, Route
from scaling.testing.fleet.fleet import UnknownDeployment
from scaling.testing.fleet.program import BadChange, RunningFleet
from scaling.testing.fleet.scale_order import BadOrder, read_order

API = "/api/v2"
LIST = f"{API}/external/inference/list"
SCALE = f"{API}/internal/inference/scale"
REPLICAS_BEFORE, REPLICAS_AFTER = f"{API}/external/inference/", "/replicas"
STANDIN = "/prometheus/api/v1/"
LARGEST_BODY = 1 << 20
IDLE_SECONDS = 60.0
NOT_FOUND = {"error": "there is nothing here"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What is to be answered, before the route's fault has its way with it."""

    status: int
    body: Any
    route: Route | None = None


class FleetServer(ThreadingHTTPServer):
    """Listens at once; `serve_forever` answers, on a thread for each connection."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], running: RunningFleet, token: str, stop: StopRequest) -> None:
        self.running, self.token, self.stop = running, token, stop
        self.asked: Counter[Route] = Counter()
        super().__init__(address, _Handler)

    @property
    def url(self) -> str:
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"


class _Handler(BaseHTTPRequestHandler):
    server: FleetServer
    protocol_version = "HTTP/1.1"
    server_version = "iris-fleet"
    sys_version = ""
    timeout = IDLE_SECONDS
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._handle(self._get)

    def do_POST(self) -> None:
        self._handle(self._post)

    def do_DELETE(self) -> None:
        self._handle(self._delete)

    def log_message(self, format: str, *args: Any) -> None:
        """Calls are in the fleet's own log."""

    def _handle(self, answer: Callable[[str, bytes], Reply]) -> None:
        length = self.headers.get("Content-Length") or "0"
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            self.close_connection = True
            self._send(Reply(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": f"expected at most {LARGEST_BODY} bytes"}))
            return
        try:
            reply = answer(urlsplit(self.path).path, self.rfile.read(int(length)))
        except UnknownDeployment as problem:
            reply = Reply(HTTPStatus.NOT_FOUND, {"error": str(problem)})
        except (BadFault, BadChange, BadOrder) as problem:
            reply = Reply(HTTPStatus.BAD_REQUEST, {"error": str(problem)})
        self._send(reply)

    def _get(self, path: str, _body: bytes) -> Reply:
        running = self.server.running
        if path.startswith(API):
            return self._gateway_get(path)
        if path.startswith(STANDIN):
            return self._standin(path, self._query())
        match path:
            case "/_log":
                return Reply(200, {"calls": running.calls_since(_number(self._query().get("since", "0")))})
            case "/_faults":
                return Reply(200, running.faults.as_mapping())
            case "/_counts":
                return Reply(200, {route.value: self.server.asked[route] for route in Route})
            case "/_targets":
                return Reply(200, running.targets())
            case "/_state":
                return Reply(200, running.state())
        return Reply(HTTPStatus.NOT_FOUND, NOT_FOUND)

    def _post(self, path: str, body: bytes) -> Reply:
        running = self.server.running
        if path == SCALE:
            return self._scale(body)
        if path.startswith(STANDIN):
            return self._standin(path, self._query() | dict(parse_qsl(body.decode(errors="replace"))))
        order = _parsed(body)
        match path:
            case "/_faults":
                running.faults = running.faults.changed(order)
                return Reply(200, running.faults.as_mapping())
            case "/_deployments":
                running.change(_text(order, "id"), {key: value for key, value in order.items() if key != "id"})
                return Reply(200, {})
            case "/_replicas":
                running.cast(_text(order, "id"), _text(order, "replica_id"), _text(order, "do"))
                return Reply(200, {})
        return Reply(HTTPStatus.NOT_FOUND, NOT_FOUND)

    def _delete(self, path: str, _body: bytes) -> Reply:
        if path != "/_faults":
            return Reply(HTTPStatus.NOT_FOUND, NOT_FOUND)
        self.server.running.faults = Faults()
        return Reply(200, self.server.running.faults.as_mapping())

    def _gateway_get(self, path: str) -> Reply:
        self.server.asked[Route.LIST] += 1
        fault = self.server.running.faults.of(Route.LIST)
        if refusal := self._refusal(fault, Route.LIST):
            return refusal
        if path == LIST:
            listed = self.server.running.listed()
            return Reply(200, {"deployments": []} if fault == Fault.EMPTY else listed, Route.LIST)
        if path.startswith(REPLICAS_BEFORE) and path.endswith(REPLICAS_AFTER):
            deployment_id = unquote(path[len(REPLICAS_BEFORE) : -len(REPLICAS_AFTER)])
            return Reply(200, {"replicas": self.server.running.listed_replicas(deployment_id)}, Route.LIST)
        return Reply(HTTPStatus.NOT_FOUND, NOT_FOUND)

    def _scale(self, body: bytes) -> Reply:
        """Carry it out, unless the fault is one that comes first; every call that is read is logged."""
        running = self.server.running
        self.server.asked[Route.SCALE] += 1
        fault, call = running.faults.of(Route.SCALE), _parsed(body)
        if refusal := self._refusal(fault, Route.SCALE):
            running.note(call, str(refusal.status), [])
            return refusal
        if fault == Fault.DOWN:
            running.note(call, fault, [])
            return Reply(200, {}, Route.SCALE)
        try:
            started = running.scale(read_order(call))
        except (BadOrder, UnknownDeployment):
            running.note(call, "refused", [])
            raise
        running.note(call, fault or "200", started)
        return Reply(200, {"started": started}, Route.SCALE)

    def _refusal(self, fault: str, route: Route) -> Reply | None:
        """The answer to a call without the token, or of a fault that is a status."""
        given = self.headers.get("Authorization", "")
        if not compare_digest(given.encode(), f"Bearer {self.server.token}".encode()):
            return Reply(HTTPStatus.UNAUTHORIZED, {"error": "the bearer token is not the fleet's"})
        return Reply(int(fault), {"error": "switched on at /_faults"}, route) if fault.isdecimal() else None

    def _standin(self, path: str, parameters: dict[str, str]) -> Reply:
        self.server.asked[Route.PROMETHEUS] += 1
        running, now = self.server.running, time.time()
        fault = running.faults.of(Route.PROMETHEUS)
        if fault.isdecimal():
            error = {"status": "error", "errorType": "switched on", "error": "switched on at /_faults"}
            return Reply(int(fault), error, Route.PROMETHEUS)
        ask = {"query": standin.instant, "query_range": standin.ranged}.get(path.removeprefix(STANDIN))
        if ask is not None:
            with running.lock:
                status, body = ask(parameters, running.history, now)
        elif path == f"{STANDIN}status/buildinfo":
            status, body = standin.build_info()
        else:
            return Reply(
                HTTPStatus.NOT_FOUND, {"status": "error", "errorType": "not_found", "error": "not spoken here"}
            )
        if fault == Fault.EMPTY and status == 200:
            body["data"]["result"] = []
        if fault == Fault.WARNINGS and status == 200:
            body["warnings"] = ["switched on at /_faults"]
        return Reply(status, body, Route.PROMETHEUS)

    def _query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.path).query))

    def _send(self, reply: Reply) -> None:
        content = json.dumps(reply.body).encode()
        fault = self.server.running.faults.of(reply.route) if reply.route else ""
        if fault == Fault.SLOW and self.server.stop.wait(self.server.running.faults.slow_seconds):
            return
        if fault in (Fault.DOWN, Fault.LOST):
            self._hang_up()
            return
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        body = content[: len(content) // 2] if fault in (Fault.TRUNCATED, Fault.CUT) else content
        self.send_header("Content-Length", str(len(content) if fault == Fault.CUT else len(body)))
        self.end_headers()
        self.wfile.write(body)
        if fault == Fault.CUT:
            self._hang_up()

    def _hang_up(self) -> None:
        """End the connection at once; whoever calls sees it reset."""
        self.wfile.flush()
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise BadOrder("the body is no JSON") from None


def _text(order: Any, name: str) -> str:
    value = order.get(name) if isinstance(order, dict) else None
    if not isinstance(value, str):
        raise BadChange(f"{name}: expected a text")
    return value


def _number(text: str) -> int:
    if not text.isdecimal():
        raise BadChange(f"since: expected a number, got {text[:60]!r}")
    return int(text)
