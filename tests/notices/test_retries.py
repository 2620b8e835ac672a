"""When a failed delivery is due again."""

from datetime import UTC, datetime, timedelta

import pytest

from scaling.notices.retries import Answer, next_attempt

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def pause(attempts: int, answer: Answer, most: int = 10) -> float | None:
    due = next_attempt(attempts, answer, NOW, most)
    return None if due is None else (due - NOW).total_seconds()


def test_pauses_double_up_to_a_quarter_of_an_hour() -> None:
    down = Answer(ok=False, error="refused")
    assert [pause(attempts, down) for attempts in range(1, 10)] == [10, 20, 40, 80, 160, 320, 640, 900, 900]


def test_it_is_given_up_after_the_most_attempts() -> None:
    assert pause(10, Answer(ok=False)) is None
    assert pause(1, Answer(ok=False), most=1) is None


@pytest.mark.parametrize(("asked", "waited"), [(30.0, 30), (3.0, 10), (-5.0, 10), (86_400.0, 3600)])
def test_a_receiver_that_asks_for_a_rest_gets_it_within_reason(asked: float, waited: float) -> None:
    assert pause(1, Answer(ok=False, status=429, retry_after=asked)) == waited


def test_a_message_that_is_refused_is_given_up_sooner_than_a_receiver_that_is_down() -> None:
    assert pause(2, Answer(ok=False, status=404)) == 20
    assert pause(3, Answer(ok=False, status=404)) is None
    for status in (408, 425, 429, 500, 503):
        assert pause(3, Answer(ok=False, status=status)) is not None


def test_all_attempts_together_take_about_an_hour() -> None:
    total = sum(pause(attempts, Answer(ok=False)) or 0 for attempts in range(1, 11))
    assert timedelta(minutes=30) < timedelta(seconds=total) < timedelta(hours=2)
