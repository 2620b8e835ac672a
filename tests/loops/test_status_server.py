"""A control-plane process without pages answers for its health, and for nothing else."""

import socket
from http.client import HTTPConnection

import pytest

from scaling.loops.status_server import serving

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


@pytest.mark.parametrize("path", ["/", "/admin/", "/login/", "/api/v1/status", "/healthz/", "/static/css/iris.css"])
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
