"""POST /scale: sent once each, and what comes back is ok, refused (not done) or timeout (maybe done)."""

import socket
import threading
import time

import pytest

from scaling.replicas.decision import Outcome
from scaling.sources.gateway import Gateway, ScaleAnswer, ScaleCall
from tests.sources.gateway.answers import settings
from tests.sources.gateway.servers import Handler, Request, always, answer, serving

CALL = ScaleCall("d1", 2, ("r1", "r2"))


def answered(handler: Handler, call: ScaleCall = CALL, deadline: float = 5) -> ScaleAnswer:
    with serving(handler) as server, Gateway(settings(server.address)) as gateway:
        given = gateway.scale_all([call], deadline)
        assert len(server.requests) <= 1, "a call is never sent twice"
    return given[0]


def test_the_call_is_posted_as_documented() -> None:
    with serving(always(answer({"accepted": True}, 202))) as server, Gateway(settings(server.address)) as gateway:
        given = gateway.scale_all([CALL], 5)
        request = server.requests[0]
    assert (given[0].call, given[0].outcome, given[0].message) == (CALL, Outcome.OK, "")
    assert (request.method, request.path) == ("POST", "/api/v2/internal/inference/scale")
    assert request.json == {"deployment_id": "d1", "replicas_to_add": 2, "replica_ids_to_stop": ["r1", "r2"]}
    assert request.headers["authorization"] == "Bearer s3cret"
    assert request.headers["content-type"] == "application/json"


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_any_success_is_ok(status: int) -> None:
    empty = f"HTTP/1.1 {status} Fine\r\n".encode() + (b"\r\n" if status == 204 else b"Content-Length: 0\r\n\r\n")
    assert answered(always(empty)).outcome is Outcome.OK


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "answered HTTP 400: no quota left."),
        (401, "check DEPLOYMENT_SCALER_SERVICE_TOKEN."),
        (409, "answered HTTP 409: no quota left."),
        (429, "answered HTTP 429: no quota left."),
        (500, "answered HTTP 500: no quota left."),
        (503, "answered HTTP 503: no quota left."),
        (307, "redirects to elsewhere (HTTP 307)"),
    ],
)
def test_any_other_status_is_a_refusal_with_its_reason(status: int, said: str) -> None:
    given = answered(always(answer({"error": "no quota left"}, status)))
    assert given.outcome is Outcome.REFUSED
    assert said in given.message


def test_a_proxy_that_gave_up_waiting_leaves_it_open_whether_it_was_done() -> None:
    given = answered(always(answer(None, 504)))
    assert given.outcome is Outcome.TIMEOUT
    assert "may have been carried out" in given.message


def test_a_refused_connection_is_not_done() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with Gateway(settings(f"http://127.0.0.1:{port}")) as gateway:
        given = gateway.scale_all([CALL], 5)[0]
    assert given.outcome is Outcome.REFUSED
    assert given.message.endswith("the call was not sent.")


def test_a_connection_that_is_never_made_is_not_done() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        queued = [socket.socket() for _ in range(4)]
        for waiting in queued:
            waiting.setblocking(False)
            waiting.connect_ex(address)
        with Gateway(settings(f"http://127.0.0.1:{address[1]}")) as gateway:
            given = gateway.scale_all([CALL], 0.3)[0]
        for waiting in queued:
            waiting.close()
    assert (given.outcome, "was not sent" in given.message) == (Outcome.REFUSED, True)


def hang_up(_request: Request, connection: socket.socket) -> None:
    connection.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    "handler",
    [
        pytest.param(lambda _request, _connection: time.sleep(20), id="no answer"),
        pytest.param(hang_up, id="hung up after it was sent"),
        pytest.param(always(b"HTTP/1.1 200"), id="half a status line"),
    ],
)
def test_without_an_answer_to_a_sent_call_it_may_have_been_done(handler: Handler) -> None:
    began = time.monotonic()
    given = answered(handler, deadline=0.4)
    assert given.outcome is Outcome.TIMEOUT
    assert "may have been carried out" in given.message
    assert time.monotonic() - began < 15
    assert given.seconds < 15


@pytest.mark.parametrize(("status", "outcome"), [(200, Outcome.OK), (500, Outcome.REFUSED), (504, Outcome.TIMEOUT)])
def test_the_status_decides_when_the_rest_of_the_answer_is_lost(status: int, outcome: Outcome) -> None:
    def cut(_request: Request, connection: socket.socket) -> None:
        connection.sendall(answer({"a": 1}, status, length=500))
        connection.shutdown(socket.SHUT_RDWR)

    assert answered(cut).outcome is outcome


def test_many_are_sent_together_within_the_bound_and_answered_in_order() -> None:
    under_way, most, lock = 0, 0, threading.Lock()

    def send(request: Request, connection: socket.socket) -> None:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.03)
        with lock:
            under_way -= 1
        connection.sendall(answer(None, 500 if request.json["replicas_to_add"] % 3 == 0 else 200))

    calls = [ScaleCall(f"d{number}", number) for number in range(12)]
    with serving(send) as server, Gateway(settings(server.address, max_concurrent=4)) as gateway:
        answers = gateway.scale_all(calls, 5)
        assert sorted(it.json["deployment_id"] for it in server.requests) == sorted(it.deployment_id for it in calls)
        assert server.connections <= 4
    assert [it.call for it in answers] == calls
    assert [it.outcome is Outcome.REFUSED for it in answers] == [number % 3 == 0 for number in range(12)]
    assert 2 <= most <= 4


def test_what_the_deadline_leaves_no_time_for_is_not_sent() -> None:
    calls = [ScaleCall(f"d{number}", 1) for number in range(6)]

    def first_two(request: Request, connection: socket.socket) -> None:
        if request.json["deployment_id"] not in ("d0", "d1"):
            time.sleep(20)
        connection.sendall(answer(None))

    with serving(first_two) as server, Gateway(settings(server.address, max_concurrent=2)) as gateway:
        outcomes = [it.outcome for it in gateway.scale_all(calls, 1.5)]
        sent = len(server.requests)
    assert outcomes == [Outcome.OK] * 2 + [Outcome.TIMEOUT] * 2 + [Outcome.REFUSED] * 2
    assert sent == 4


def test_no_calls_need_no_gateway() -> None:
    assert Gateway(settings("http://127.0.0.1:1")).scale_all([], 1) == []
