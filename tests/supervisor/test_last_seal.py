"""What is not sealed yet when the installation stops: sealed then, and never for longer than a stop may take."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from scaling.audit import sealing
from scaling.stopping import StopRequest
from scaling.supervisor import last_seal


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A database that answers no more until the event is set."""
    answers = threading.Event()
    monkeypatch.setattr(sealing, "run", lambda *_, **__: answers.wait(60))
    yield answers
    answers.set()


@pytest.fixture
def stop() -> StopRequest:
    """Made just now."""
    request = StopRequest()
    request.set()
    return request


def test_the_rest_is_sealed_within_the_time_of_a_stop_and_what_is_left_is_told(
    stop: StopRequest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    given: list[dict[str, Any]] = []
    monkeypatch.setattr(sealing, "run", lambda *_, **budget: given.append(budget))
    monkeypatch.setattr(last_seal, "LAST_SEAL_SECONDS", 30.0)
    monkeypatch.setattr(last_seal, "STOPPED_WITHIN_SECONDS", 30.0)
    for is_behind in (False, True):
        monkeypatch.setattr(sealing, "is_behind", lambda is_behind=is_behind: is_behind)
        last_seal.seal_the_rest(stop)
        assert ("not everything is sealed at the stop" in caplog.text) is is_behind
    assert [sum(budget.values()) for budget in given] == [22.5] * 2


@pytest.mark.parametrize("limit", ["LAST_SEAL_SECONDS", "STOPPED_WITHIN_SECONDS"])
def test_a_database_without_an_answer_is_not_waited_for(
    limit: str,
    stop: StopRequest,
    stuck: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for name in ("LAST_SEAL_SECONDS", "STOPPED_WITHIN_SECONDS"):
        monkeypatch.setattr(last_seal, name, 0.05 if name == limit else 60.0)
    last_seal.seal_the_rest(stop)
    assert "not everything may be sealed at the stop" in caplog.text and not stuck.is_set()


def test_a_second_request_to_stop_is_not_kept_waiting(
    stop: StopRequest, stuck: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LAST_SEAL_SECONDS", "STOPPED_WITHIN_SECONDS"):
        monkeypatch.setattr(last_seal, name, 60.0)
    stop.set()
    last_seal.seal_the_rest(stop)
    assert not stuck.is_set()


def test_a_seal_that_fails_does_not_keep_the_installation(
    stop: StopRequest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(sealing, "run", fail)
    for name in ("LAST_SEAL_SECONDS", "STOPPED_WITHIN_SECONDS"):
        monkeypatch.setattr(last_seal, name, 60.0)
    last_seal.seal_the_rest(stop)
    assert "sealing at the stop failed" in caplog.text
