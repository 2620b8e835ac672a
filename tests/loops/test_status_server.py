"""A control-plane process without pages answers for its health, and for nothing else."""

import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from http.client import HTTPConnection
from typing import Any

import pytest
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from scaling.loops import status_server
from scaling.loops.status_server import MOST_AT_ONCE, serving

ANY = ("127.0.0.1", 0)


def asked(port: int, path: str) -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_health_is_answered_to_whoever_asks_by_address() -> None:
    with serving(ANY) as port:
        assert asked(port, "/healthz")[0] == 200


@pytest.mark.parametrize("path", ["/", "/admin/", "/login/", "/api/v1/status", "/healthz/", "/static/css/tokens.css"])
def test_no_page_and_no_api_is_served_there(path: str) -> None:
    with serving(ANY) as port:
        assert asked(port, path)[0] == 404


def test_an_address_that_another_program_has_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(ANY) as other, serving(("127.0.0.1", other.getsockname()[1])) as port:
        assert port == 0
    assert [record.setting for record in caplog.records] == ["LYC_HTTP_ADDR"]  # type: ignore[attr-defined]


def test_nothing_is_served_where_it_is_turned_off() -> None:
    with serving(None) as port:
        assert port == 0


def wait_for(condition: Callable[[], bool], seconds: float = 5) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.01)


@pytest.mark.django_db(transaction=True)
def test_a_request_leaves_no_database_connection_behind() -> None:
    opened: list[BaseDatabaseWrapper] = []

    def note(connection: BaseDatabaseWrapper, **_: object) -> None:
        opened.append(connection)

    connection_created.connect(note)
    try:
        with serving(ANY) as port:
            asked(port, "/readyz")
            assert opened
            wait_for(lambda: all(one.connection is None for one in opened))
    finally:
        connection_created.disconnect(note)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """The site's answers wait for this event."""
    event = threading.Event()

    def site(_environ: Any, start_response: Any) -> list[bytes]:
        event.wait(10)
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"ok"]

    monkeypatch.setattr(status_server, "WSGIHandler", lambda: site)
    return event


def test_more_requests_than_there_may_be_at_once_are_told_that_it_is_busy(held: threading.Event) -> None:
    before = threading.active_count()
    with serving(ANY) as port, ExitStack() as open_ones:
        waiting = [HTTPConnection("127.0.0.1", port, timeout=10) for _ in range(MOST_AT_ONCE)]
        for one in waiting:
            open_ones.callback(one.close)
            one.request("GET", "/healthz")
        wait_for(lambda: threading.active_count() >= before + 1 + MOST_AT_ONCE)
        assert [asked(port, "/healthz") for _ in range(3)] == [(503, b"busy with other requests\n")] * 3
        held.set()
        assert [one.getresponse().status for one in waiting] == [200] * MOST_AT_ONCE
        wait_for(lambda: threading.active_count() <= before + 1)
        assert asked(port, "/healthz") == (200, b"ok")
