"""The queue of one socket: order, slots, limits, and what is left out first."""

import asyncio

import pytest

from iris_web.live.outbox import LaggingError, Outbox


def drained(outbox: Outbox, count: int) -> list[str]:
    async def take() -> list[str]:
        return [await asyncio.wait_for(outbox.get(), 1) for _ in range(count)]

    return asyncio.run(take())


def test_messages_come_out_in_order() -> None:
    outbox = Outbox()
    for text in "abc":
        outbox.put(text)
    assert drained(outbox, 3) == ["a", "b", "c"]


def test_only_the_latest_of_a_slot_waits() -> None:
    outbox = Outbox(max_messages=3)
    for n in range(100):
        outbox.put(f"fragment {n}", slot="x")
        outbox.put(f"other {n}", slot="y")
    assert drained(outbox, 2) == ["fragment 99", "other 99"]
    outbox.put("fragment 100", slot="x")
    assert drained(outbox, 1) == ["fragment 100"]


@pytest.mark.parametrize("limits", [{"max_messages": 4}, {"max_chars": 4}])
def test_above_the_limit_everything_is_given_up(limits: dict[str, int]) -> None:
    outbox = Outbox(**limits)
    for _ in range(5):
        outbox.put("x")
    assert outbox.lagging
    outbox.put("later")
    with pytest.raises(LaggingError):
        drained(outbox, 1)


def test_above_half_of_the_limit_points_of_charts_are_left_out() -> None:
    outbox = Outbox(max_messages=4)
    for text in ("a", "point 1", "b", "point 2"):
        outbox.put(text, droppable=text.startswith("point"))
    outbox.put("c")
    assert drained(outbox, 4) == ["a", "point 1", "b", "c"]


def test_what_was_missed_goes_before_what_came_meanwhile_and_never_counts_as_lagging() -> None:
    outbox = Outbox(max_messages=3)
    outbox.hold()
    outbox.put("live 1")
    for n in range(50):
        outbox.put_first(f"missed {n}")
    outbox.put("live 2")
    outbox.release()
    outbox.put("live 3")
    assert drained(outbox, 53) == [*(f"missed {n}" for n in range(50)), "live 1", "live 2", "live 3"]


def test_too_much_put_aside_is_lagging_too() -> None:
    outbox = Outbox(max_messages=3)
    outbox.hold()
    for _ in range(5):
        outbox.put("x")
    outbox.release()
    assert outbox.lagging


def test_room_is_free_again_once_messages_were_taken() -> None:
    outbox = Outbox(max_messages=2, max_chars=10)
    for _ in range(50):
        outbox.put("12345")
        assert drained(outbox, 1) == ["12345"]
    assert not outbox.lagging
