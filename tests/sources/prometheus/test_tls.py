"""The same over TLS."""

import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scaling.sources.prometheus import PrometheusSettings, PrometheusSource
from tests.sources.prometheus.support import (
    NOW,
    Reply,
    Scripted,
    always,
    drips_body,
    drips_headers,
    is_silent,
    read,
    says,
    scripted,
    series,
    vector,
)

CERTIFICATE = Path(__file__).with_name("localhost.pem")


@contextmanager
def over_tls() -> Iterator[Scripted]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    with scripted(always(says(vector(series("d1", "7")))), context) as server:
        yield server


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(CERTIFICATE))


@pytest.mark.usefixtures("trusted")
def test_a_trusted_server_is_read() -> None:
    with over_tls() as server:
        answer = read(server.url)
    assert answer.error == ""
    assert answer.readings["d1"].rps.value == 7


def test_a_server_that_nobody_vouches_for_is_down() -> None:
    with over_tls() as server:
        answer = read(server.url)
        assert server.asked == []
    assert answer.down
    assert "certificate verify failed" in answer.error


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("fault", [is_silent, drips_body, drips_headers])
def test_a_slow_answer_is_bounded_and_the_next_is_read(fault: Reply) -> None:
    with over_tls() as server, PrometheusSource(PrometheusSettings(server.url, timeout_seconds=1.5)) as source:
        good, server.answer = server.answer, always(fault)
        began = time.monotonic()
        answer = source.read(["d1"], NOW, 5)
        assert time.monotonic() - began < 20
        assert "gave no whole answer in time" in answer.error
        assert not answer.down
        server.answer = good
        assert source.read(["d1"], NOW, 5).readings["d1"].rps.value == 7
