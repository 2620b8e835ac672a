"""What the proof of the Gateway's log finds, on logs made for it."""

from benchmarks.replica_plane.fleet import LoggedCall
from benchmarks.replica_plane.proof import Intent, broken_cooldowns, double_calls, forgotten, match


def call(number: int, *started: str, stop: tuple[str, ...] = (), add: int = 0, at: float = 0) -> LoggedCall:
    return LoggedCall(number, at or number * 10.0, "d", add or len(started), stop, "200", started)


def intent(number: int, counted: int, add: int, *stop: str, at: float = 0) -> Intent:
    return Intent(number, at or number * 10.0 - 1, counted, {"add": add, "stop": list(stop)})


FIRST = {"d": ["d-1"]}


def test_calls_that_count_what_was_bought_are_no_double_calls() -> None:
    calls = [call(1, "d-2", "d-3"), call(2, stop=("d-1",)), call(3, "d-4")]
    sent = match(calls, FIRST, {"d": [intent(1, 1, 2), intent(2, 3, 0, "d-1"), intent(3, 2, 1)]})
    assert list(double_calls(sent)) == []


def test_a_call_whose_decision_did_not_know_of_what_was_bought_is_one() -> None:
    sent = match([call(1, "d-2"), call(2, "d-3")], FIRST, {"d": [intent(1, 1, 1), intent(2, 1, 1)]})
    assert list(double_calls(sent)) == ["d: call 2 adds 1 to 2 replicas, of which its decision knew 1"]


def test_a_call_sent_twice_for_one_intent_is_found() -> None:
    sent = match([call(1, "d-2"), call(2, "d-3")], FIRST, {"d": [intent(1, 1, 1)]})
    assert list(double_calls(sent)) == ["d: call 2 was sent without being written down first, or twice"]


def test_an_intent_that_was_never_sent_is_passed_over() -> None:
    sent = match([call(2, "d-2", "d-3")], FIRST, {"d": [intent(1, 1, 1), intent(2, 1, 2)]})
    assert list(double_calls(sent)) == []


def test_a_change_within_a_cooldown_is_found() -> None:
    sent = match([call(1, "d-2"), call(2, "d-3")], FIRST, {"d": [intent(1, 1, 1), intent(2, 2, 1)]})
    assert list(broken_cooldowns(sent, {"d": 10})) == []
    assert list(broken_cooldowns(sent, {"d": 11})) == ["d: 10.00 s between two changes, with a cooldown of 11 s"]


def test_a_memory_that_lost_its_cooldown_or_a_wish_is_found() -> None:
    before = {"last_scale_at": 90.0, "window": [[50.0, 9], [95.0, 4]]}
    assert list(forgotten(before, before, 100, 60)) == []
    # What has expired, and what a later wish for as much covers, may go.
    assert list(forgotten(before, {"last_scale_at": 99.0, "window": [[99.0, 5]]}, 115, 60)) == []
    lost = forgotten(before, {"last_scale_at": None, "window": None}, 100, 60)
    assert list(lost) == [
        "last_scale_at was 90.0, is None",
        "the window lacks 9 replicas wished 50.0 s before",
        "the window lacks 4 replicas wished 5.0 s before",
    ]
