"""What `up` gives the programs it starts."""

import socket
from collections.abc import Iterator

import pytest

from scaling.supervisor import start


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


@pytest.mark.parametrize(("given", "address"), [(None, "off"), ("", "off"), (":8082", ":8082"), ("off", "off")])
def test_the_ticker_beside_the_web_process_serves_its_health_only_where_an_address_is_given(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch, given: str | None, address: str
) -> None:
    if given is None:
        monkeypatch.delenv("LYC_HTTP_ADDR", raising=False)
    else:
        monkeypatch.setenv("LYC_HTTP_ADDR", given)
    programs = {one.name: one for one in start._programs(start.Options(), listener, {})}
    assert programs["ticker"].environment["LYC_HTTP_ADDR"] == address
    assert "LYC_HTTP_ADDR" not in programs["worker"].environment
