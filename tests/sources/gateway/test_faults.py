"""A Gateway that is down, slow, refuses, or gives half an answer: nothing is known, and the sentence says why."""

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable

import pytest

from scaling.sources.gateway import (
    Gateway,
    GatewayError,
    GatewayMalformed,
    GatewayRefused,
    GatewaySettings,
    GatewayTimedOut,
    GatewayUnreachable,
)
from tests.sources.gateway.answers import deployment, replica, settings
from tests.sources.gateway.servers import Handler, Request, always, answer, serving

SHORT = 0.4


def failure(handler: Handler, deadline: float = 5, **changed: object) -> GatewayError:
    with (
        serving(handler) as server,
        Gateway(settings(server.address, **changed)) as gateway,
        pytest.raises(GatewayError) as caught,
    ):
        gateway.fleet(deadline)
    return caught.value


def drip(content: bytes, every: float) -> Handler:
    def send(_request: Request, connection: socket.socket) -> None:
        for place in range(len(content)):
            connection.sendall(content[place : place + 1])
            time.sleep(every)

    return send


def test_a_gateway_that_is_down_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with Gateway(settings(f"http://127.0.0.1:{port}")) as gateway, pytest.raises(GatewayUnreachable) as caught:
        gateway.fleet(5)
    assert caught.value.message.startswith("The Gateway cannot be reached: ")
    assert f"http://127.0.0.1:{port}/api/v2/external/inference/list" in caught.value.message


def test_a_host_without_address_is_unreachable() -> None:
    with Gateway(settings("http://gateway.invalid")) as gateway, pytest.raises(GatewayUnreachable):
        gateway.fleet(5)


@pytest.mark.parametrize(
    "handler",
    [
        pytest.param(lambda _request, _connection: time.sleep(20), id="no answer"),
        pytest.param(drip(answer([deployment()]), 0.1), id="a header that drips"),
        pytest.param(
            lambda r, c: (c.sendall(answer([], length=900)), drip(b" " * 900, 0.1)(r, c)), id="a body that drips"
        ),
    ],
)
def test_a_slow_answer_ends_at_the_deadline_as_a_whole(handler: Handler) -> None:
    began = time.monotonic()
    error = failure(handler, deadline=SHORT)
    assert isinstance(error, GatewayTimedOut)
    assert SHORT * 0.9 < time.monotonic() - began < SHORT + 15
    assert error.message.startswith("The Gateway gave no whole answer in time (")


def test_the_same_trouble_is_the_same_sentence_however_long_it_took() -> None:
    with serving(lambda _request, _connection: time.sleep(1)) as server, Gateway(settings(server.address)) as gateway:
        said = set()
        for deadline in (0.1, 0.15, 0.3):
            with pytest.raises(GatewayTimedOut) as caught:
                gateway.fleet(deadline)
            said.add(caught.value.message)
    assert len(said) == 1


def test_the_time_out_of_a_call_ends_it_when_the_deadline_is_later() -> None:
    began = time.monotonic()
    error = failure(lambda _request, _connection: time.sleep(20), deadline=30, timeout_seconds=SHORT)
    assert isinstance(error, GatewayTimedOut)
    assert time.monotonic() - began < SHORT + 15


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "does not accept the token (HTTP 401): check DEPLOYMENT_SCALER_SERVICE_TOKEN"),
        (403, "does not allow this token to do that (HTTP 403): check DEPLOYMENT_SCALER_SERVICE_TOKEN"),
        (404, "answered HTTP 404: no such thing"),
        (500, "answered HTTP 500: no such thing"),
        (503, "answered HTTP 503: no such thing"),
        (206, "answered HTTP 206"),
        (204, "answered HTTP 204"),
    ],
)
def test_any_status_but_200_is_a_refusal_with_its_reason(status: int, said: str) -> None:
    error = failure(always(answer({"detail": "no such thing."} if status != 204 else None, status)))
    assert isinstance(error, GatewayRefused)
    assert error.status == status
    assert said in error.message


def test_a_redirect_is_named_and_the_token_does_not_follow_it() -> None:
    with serving(always(answer([]))) as elsewhere:
        error = failure(always(answer(None, 302, headers=(f"Location: {elsewhere.address}/list",))))
        assert elsewhere.requests == []
    assert f"redirects to {elsewhere.address}/list (HTTP 302): set API_BASE_URL" in error.message


@pytest.mark.parametrize(
    "link", ["/more\x00", "http://[x", "/more?\ud800", "http://x:99999/more", "http://xn--/", "http://x:y/"]
)
def test_a_next_page_at_what_is_no_address_makes_the_list_malformed(link: str) -> None:
    error = failure(always(answer({"deployments": [deployment()], "next": link})))
    assert isinstance(error, GatewayMalformed)
    assert error.message.isprintable()


def test_the_reason_in_an_error_page_is_short_and_on_one_line() -> None:
    error = failure(always(answer(None, 502, raw=b"<html>\n<h1>Bad\x00 gateway</h1>" + b"x" * 10_000)))
    assert "HTTP 502: <html> <h1>Bad gateway</h1>xxx" in error.message
    assert len(error.message) < 350


def whole() -> bytes:
    return json.dumps([deployment(f"d{number}") for number in range(5)]).encode()


def cut(_request: Request, connection: socket.socket) -> None:
    """Say a length, send half of it, hang up."""
    connection.sendall(answer(None, raw=whole()[:500], length=len(whole())))
    connection.shutdown(socket.SHUT_RDWR)


def cut_chunks(_request: Request, connection: socket.socket) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    connection.sendall(head + b"%x\r\n%s\r\n" % (len(whole()), whole()))
    connection.shutdown(socket.SHUT_RDWR)


def zipped_and_cut(_request: Request, connection: socket.socket) -> None:
    packed = gzip.compress(whole())[:-20]
    connection.sendall(answer(None, raw=packed, headers=("Content-Encoding: gzip",)))


@pytest.mark.parametrize(
    "handler",
    [
        pytest.param(cut, id="shorter than its content-length"),
        pytest.param(cut_chunks, id="chunks without an end"),
        pytest.param(zipped_and_cut, id="half a gzip"),
        pytest.param(always(answer(None, raw=whole()[:-1])), id="truncated JSON"),
        pytest.param(always(answer(None, raw=whole()[:700])), id="half of the JSON"),
        pytest.param(always(answer(None, raw=b"")), id="nothing"),
        pytest.param(always(answer(None, raw=b"[]]")), id="more than JSON"),
        pytest.param(always(answer(None, raw=b"[" * 100_000)), id="very deep"),
        pytest.param(always(answer(None, raw=b'["\xff"]')), id="not UTF-8"),
        pytest.param(always(b"HTTP/1.1 200 OK\r\nContent-Length: nine\r\n\r\n[]"), id="a length that is no number"),
    ],
)
def test_half_an_answer_is_malformed_and_never_a_list(handler: Handler) -> None:
    assert isinstance(failure(handler), GatewayMalformed | GatewayUnreachable)


def test_a_broken_off_body_is_called_that() -> None:
    assert "The Gateway's answer broke off" in failure(cut).message


def test_a_server_that_speaks_no_http_is_unreachable() -> None:
    assert isinstance(failure(always(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")), GatewayUnreachable)


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "undeclared"])
def test_a_body_larger_than_the_largest_is_not_read(declared: bool) -> None:
    def endless(_request: Request, connection: socket.socket) -> None:
        length = b"Content-Length: 99999999\r\n" if declared else b"Connection: close\r\n"
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + length + b"\r\n")
        while True:
            connection.sendall(b" " * 10_000)

    error = failure(endless, max_body_bytes=100_000)
    assert isinstance(error, GatewayMalformed)
    assert "larger than 100,000 bytes" in error.message


def test_it_recovers_without_a_restart() -> None:
    answers = [answer(None, 500), answer(None, raw=b"["), answer([]), answer([deployment()])]
    with (
        serving(lambda _request, connection: connection.sendall(answers.pop(0))) as server,
        Gateway(settings(server.address)) as gateway,
    ):
        for error in (GatewayRefused, GatewayMalformed):
            with pytest.raises(error):
                gateway.fleet(5)
        assert gateway.fleet(5).deployments == ()
        assert len(gateway.fleet(5).deployments) == 1
        assert server.connections == 1


def test_the_token_and_nothing_hidden_is_sent_over_one_connection() -> None:
    with serving(always(answer([deployment()]))) as server, Gateway(settings(server.address + "/base/")) as gateway:
        gateway.fleet(5)
        gateway.fleet(5)
        assert [(it.method, it.path) for it in server.requests] == [("GET", "/base/api/v2/external/inference/list")] * 2
        assert {it.headers["authorization"] for it in server.requests} == {"Bearer s3cret"}
        assert server.connections == 1


def test_a_closed_gateway_opens_again_when_it_is_used_and_any_thread_may_use_it() -> None:
    with serving(always(answer([deployment()]))) as server, Gateway(settings(server.address)) as gateway:
        gateway.fleet(5)
        gateway.close()
        found: list[int] = []
        threads = [threading.Thread(target=lambda: found.append(len(gateway.fleet(5).deployments))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        assert found == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: GatewaySettings("gateway.example", "t"), "API_BASE_URL: expected an address"),
        (lambda: GatewaySettings("ftp://gateway.example", "t"), "API_BASE_URL: expected an address"),
        (lambda: GatewaySettings("http://gateway:port", "t"), "API_BASE_URL: expected an address"),
        (lambda: GatewaySettings("http://gateway", ""), "DEPLOYMENT_SCALER_SERVICE_TOKEN: expected a token"),
        (lambda: GatewaySettings("http://gateway", "a\nb"), "DEPLOYMENT_SCALER_SERVICE_TOKEN: expected a token"),
        (lambda: GatewaySettings("http://gateway", "t", replicas_path="/replicas"), "expected a path with {id} in it"),
        (lambda: GatewaySettings("http://gateway", "t", timeout_seconds=0), "expected more than 0"),
    ],
)
def test_settings_that_cannot_work_are_refused_in_a_sentence(make: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$") as caught:
        make()
    assert said in str(caught.value)


def paged(pages: list[bytes]) -> Handler:
    """Page n at ?page=n, the first without."""

    def send(request: Request, connection: socket.socket) -> None:
        _, _, number = request.path.partition("?page=")
        connection.sendall(pages[int(number or 1) - 1])

    return send


LIST = "/api/v2/external/inference/list"


def test_a_list_in_pages_is_read_to_its_end() -> None:
    pages = [
        answer({"deployments": [deployment("d1")], "next": f"{LIST}?page=2", "total": 3}),
        answer({"deployments": [deployment("d2")], "next": "?page=3", "total": 3}),
        answer({"deployments": [deployment("d3")], "next": None, "total": 3, "total_pages": 3}),
    ]
    with serving(paged(pages)) as server, Gateway(settings(server.address)) as gateway:
        assert [it.id for it in gateway.fleet(5).deployments] == ["d1", "d2", "d3"]
        assert len(server.requests) == 3


def test_a_link_header_is_followed_too() -> None:
    pages = [answer([deployment("d1")], headers=(f'Link: <{LIST}?page=2>; rel="next"',)), answer([deployment("d2")])]
    with serving(paged(pages)) as server, Gateway(settings(server.address)) as gateway:
        assert [it.id for it in gateway.fleet(5).deployments] == ["d1", "d2"]


@pytest.mark.parametrize(
    ("second", "error"),
    [
        (answer(None, 500), GatewayRefused),
        (answer({"deployments": [deployment("d1")]}), GatewayMalformed),
        (answer({"deployments": [deployment("d2")], "next": f"{LIST}?page=2"}), GatewayMalformed),
        (answer({"deployments": [deployment("d2")], "total": 9}), GatewayMalformed),
    ],
    ids=["a page fails", "a deployment comes twice", "it goes round", "too few in the end"],
)
def test_pages_that_do_not_add_up_are_no_list(second: bytes, error: type[GatewayError]) -> None:
    first = answer({"deployments": [deployment("d1")], "next": f"{LIST}?page=2"})
    assert isinstance(failure(paged([first, second])), error)


def test_a_next_page_at_another_address_is_not_sent_the_token() -> None:
    with serving(always(answer([]))) as elsewhere:
        error = failure(always(answer({"deployments": [], "next": f"{elsewhere.address}/list"})))
        assert elsewhere.requests == []
    assert isinstance(error, GatewayMalformed)
    assert "which is not followed" in error.message


class TestOmittedReplicas:
    """The list without replicas: they are asked for one deployment at a time."""

    @staticmethod
    def handler(answers: dict[str, bytes], wait: float = 0) -> Handler:
        listed = [deployment(name, without=("replicas",)) for name in answers] + [deployment("with")]

        def send(request: Request, connection: socket.socket) -> None:
            if request.path == LIST:
                connection.sendall(answer(listed))
                return
            time.sleep(wait)
            connection.sendall(answers[request.path.split("/")[-2]])

        return send

    def test_only_where_they_are_omitted_is_asked(self) -> None:
        answers = {
            "a": answer([replica("a1"), replica("a2")]),
            "b": answer({"replicas": []}),
            "c": answer({"data": []}),
        }
        with serving(self.handler(answers)) as server, Gateway(settings(server.address)) as gateway:
            fleet = gateway.fleet(5)
            asked = sorted(it.path for it in server.requests if it.path != LIST)
        assert [None if it.replicas is None else len(it.replicas) for it in fleet.deployments] == [2, 0, 0, 1]
        assert asked == [f"/api/v2/external/inference/{name}/replicas" for name in "abc"]
        assert fleet.problems == ()

    def test_the_path_is_a_setting_and_an_id_is_quoted_in_it(self) -> None:
        def send(request: Request, connection: socket.socket) -> None:
            listed = [deployment("team/a b", without=("replicas",))]
            connection.sendall(answer(listed if request.path == LIST else []))

        with serving(send) as server, Gateway(settings(server.address, replicas_path="/r?of={id}")) as gateway:
            gateway.fleet(5)
            assert server.requests[-1].path == "/r?of=team%2Fa%20b"

    def test_one_that_fails_is_unknown_for_its_deployment_alone(self) -> None:
        answers = {
            "a": answer({"detail": "gone"}, 404),
            "b": answer([replica("b1", healthy=7)]),
            "c": answer([replica("c1")]),
            "d": answer({"replicas": [], "has_more": True}),
            "e": answer({"replicas": [], "total": 4}),
        }
        with serving(self.handler(answers)) as server, Gateway(settings(server.address)) as gateway:
            fleet = gateway.fleet(5)
        assert [it.replicas is None for it in fleet.deployments] == [True, True, False, True, True, False]
        assert "The replicas of a could not be read: The Gateway answered HTTP 404: gone" in fleet.problems[0]
        assert "replicas[0].healthy: expected true or false, got 7" in fleet.problems[1]
        assert len(fleet.problems) == 4

    def test_they_are_asked_together_within_the_bound(self) -> None:
        under_way, most, lock = 0, 0, threading.Lock()

        def send(request: Request, connection: socket.socket) -> None:
            nonlocal under_way, most
            if request.path == LIST:
                connection.sendall(answer([deployment(f"d{n}", without=("replicas",)) for n in range(12)]))
                return
            with lock:
                under_way += 1
                most = max(most, under_way)
            time.sleep(0.05)
            with lock:
                under_way -= 1
            connection.sendall(answer([]))

        with serving(send) as server, Gateway(settings(server.address, max_concurrent=4)) as gateway:
            assert all(it.replicas == () for it in gateway.fleet(5).deployments)
            assert server.connections <= 4
        assert 2 <= most <= 4

    def test_the_deadline_leaves_the_rest_unknown(self) -> None:
        answers = {f"d{number}": answer([]) for number in range(6)}
        began = time.monotonic()
        with (
            serving(self.handler(answers, wait=2)) as server,
            Gateway(settings(server.address, max_concurrent=2)) as gateway,
        ):
            fleet = gateway.fleet(3.5)
            assert time.monotonic() - began < 6, "all six take six seconds"
        unknown = [it for it in fleet.deployments if it.replicas is None]
        assert 2 <= len(unknown) <= 4
        assert len(fleet.problems) == len(unknown)
