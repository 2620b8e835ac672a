"""Down is what nobody answers; everything else that fails is a query error. Nothing takes longer than it may."""

import gc
import re
import socket
import threading
import time

import pytest

from scaling.sources.prometheus import MetricsAnswer, PrometheusSettings, PrometheusSource, watched
from tests.services.programs import free_port
from tests.sources.prometheus.support import (
    NOW,
    Asked,
    Reply,
    always,
    cuts_off,
    drips_body,
    drips_headers,
    ids,
    is_silent,
    read,
    refuses,
    resets,
    says,
    scripted,
    series,
    vector,
)


def failed(answer: MetricsAnswer, pattern: str) -> None:
    """A query error for everybody: not down, nothing known, and said so."""
    assert re.search(pattern, answer.error), answer.error
    assert not answer.down
    for reading in answer.readings.values():
        assert not reading.prometheus_down
        assert reading.p95.value is None
        assert reading.p95.error
        assert reading.rps.error


def down(answer: MetricsAnswer, pattern: str) -> None:
    assert re.search(pattern, answer.error), answer.error
    assert answer.down
    assert all(reading.prometheus_down for reading in answer.readings.values())
    assert answer.queries == 2


def test_a_refused_connection_is_down_at_once() -> None:
    began = time.monotonic()
    down(read(f"http://127.0.0.1:{free_port()}", ids(3)), "cannot be reached at http://127.0.0.1:.*Connection refused")
    assert time.monotonic() - began < 20


def test_an_unknown_host_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_arguments: object, **_options: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    down(read("http://localhost:9"), "Name or service not known")


def test_a_name_server_that_hangs_is_down_within_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_arguments, **_options: over.wait(30))
    began = time.monotonic()
    down(read("http://localhost:9", deadline=0.3), "accepted no connection in time")
    assert time.monotonic() - began < 20
    over.set()


def test_a_host_that_accepts_no_connection_is_down_within_the_time() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        fillers = [socket.socket() for _ in range(3)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        time.sleep(0.05)
        began = time.monotonic()
        answer = read(f"http://127.0.0.1:{listener.getsockname()[1]}", deadline=0.3)
        assert time.monotonic() - began < 20
        for filler in fillers:
            filler.close()
    down(answer, "accepted no connection in time")


def test_no_tls_where_it_is_expected_is_down() -> None:
    with scripted(always(says(vector()))) as server:
        down(read(server.url.replace("http:", "https:")), "cannot be reached.*SSL")


@pytest.mark.parametrize("fault", [is_silent, drips_body, drips_headers])
def test_a_slow_answer_is_a_query_error_within_the_time(fault: Reply) -> None:
    with scripted(always(fault)) as server:
        began = time.monotonic()
        answer = read(server.url, ids(3), deadline=1)
        assert time.monotonic() - began < 20
    failed(answer, r"gave no whole answer in time")


def test_the_setting_bounds_a_query_too() -> None:
    with scripted(always(is_silent)) as server:
        began = time.monotonic()
        failed(read(server.url, deadline=60, timeout_seconds=1), "no whole answer in time")
        assert time.monotonic() - began < 20


@pytest.mark.parametrize("fault", [resets, cuts_off])
def test_an_answer_that_breaks_off_is_a_query_error(fault: Reply) -> None:
    with scripted(always(fault)) as server:
        failed(read(server.url), "broke off its answer")


@pytest.mark.parametrize(
    ("reply", "pattern"),
    [
        (refuses(200), "HTTP 200 and an error: bad no such thing"),
        (says({"status": "error"}), "HTTP 200 and an error: no reason given"),
        (says("<html><body>Sign in</body></html>", content_type="text/html"), "no JSON object: <html><body>Sign in"),
        (says('{"status": "success", "data": {"resultType": "vec'), "no JSON object"),
        (says(b""), "no JSON object: nothing"),
        (says(b"\xff\xfe\x00"), "no JSON object"),
        (says("[" * 100_000), "no JSON object"),
        (says([]), "no JSON object"),
        (says({}), "HTTP 200 and an error"),
        (says({"status": "success"}), "no list of series"),
        (says({"status": "success", "data": None}), "no list of series"),
        (says({"status": "success", "data": {"result": {}}}), "no list of series"),
        (says(vector("text")), "no list of series"),
        (says({"status": "success", "data": {"resultType": "scalar", "result": []}}), "a scalar; expected a vector"),
        (
            says({}, 302, Location="http://elsewhere/login?secret=1"),
            r"redirects \(HTTP 302\) to http://elsewhere/login;",
        ),
        (refuses(401), "HTTP 401: check LYC_PROMETHEUS_USERNAME and LYC_PROMETHEUS_PASSWORD"),
        (refuses(404), "HTTP 404: check the path in LYC_PROMETHEUS_ADDR"),
        (says("<html>busy</html>", 503, "text/html"), "HTTP 503: Service Unavailable"),
        (refuses(400, "parse error"), "HTTP 400: bad parse error"),
    ],
)
def test_an_answer_that_is_none_is_a_query_error(reply: Reply, pattern: str) -> None:
    with scripted(always(reply)) as server:
        failed(read(server.url), pattern)


def test_a_redirect_is_not_followed() -> None:
    with scripted(always(says(vector(series("d1"))))) as other:
        with scripted(always(says({}, 301, Location=f"{other.url}/api/v1/query"))) as server:
            failed(read(server.url), "redirects")
        assert other.asked == []


def test_a_huge_answer_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "LARGEST_ANSWER_BYTES", 100_000)
    with scripted(always(says(" " * 1_000_000))) as server:
        failed(read(server.url), "larger than")


def test_a_server_that_answers_one_query_is_not_down() -> None:
    def answer(asked: Asked) -> Reply:
        return resets if asked.is_p95 else says(vector(series("d1", "7")))

    with scripted(answer) as server:
        got = read(server.url)
    assert not got.down
    assert got.error.startswith("p95: ")
    assert got.readings["d1"].p95.error
    assert got.readings["d1"].rps.value == 7


def test_it_works_again_as_soon_as_the_server_does() -> None:
    with (
        scripted(always(is_silent)) as server,
        PrometheusSource(PrometheusSettings(server.url, timeout_seconds=1)) as source,
    ):
        for fault in (is_silent, drips_body, drips_headers, cuts_off, resets, refuses(503)):
            server.answer = always(fault)
            assert source.read(["d1"], NOW, 5).error
            server.answer = always(says(vector(series("d1", "7"))))
            assert source.read(["d1"], NOW, 5).readings["d1"].rps.value == 7


def test_a_password_is_never_in_what_is_said() -> None:
    port = free_port()
    answers = [read(f"http://ada:secret@127.0.0.1:{port}")]
    with scripted(always(refuses(401))) as server:
        answers.append(read(server.url, username="ada", password="secret"))
    assert not any("secret" in repr(answer) for answer in answers)


def test_no_connection_and_no_thread_is_left_behind() -> None:
    with scripted(always(drips_body)) as server:
        with PrometheusSource(PrometheusSettings(server.url, timeout_seconds=0.5)) as source:
            for fault in (drips_body, drips_headers, is_silent, resets, cuts_off, refuses(503), says(vector())):
                server.answer = always(fault)
                source.read(ids(2), NOW, 5)
        deadline = time.monotonic() + 30
        while (_left_behind() or server.closed < server.connections) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert _left_behind() == []
        assert server.closed == server.connections > 7


def test_connections_at_rest_are_closed_with_the_source_and_not_when_garbage_is_collected() -> None:
    gc.disable()
    try:
        with scripted(always(resets)) as server:
            with PrometheusSource(PrometheusSettings(server.url)) as source:
                source.read(ids(2), NOW, 5)
                server.answer = always(says(vector()))
                source.read(ids(2), NOW, 5)
            deadline = time.monotonic() + 30
            while server.closed < server.connections and time.monotonic() < deadline:
                time.sleep(0.02)
            assert server.closed == server.connections
    finally:
        gc.enable()


def _left_behind() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("prometheus")]
