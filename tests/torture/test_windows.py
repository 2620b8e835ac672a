"""What a kill hit is told from Iris' row and the cloud's books."""

from collections import Counter
from dataclasses import replace

import pytest

from benchmarks.torture.aims import AIMS, Sight
from benchmarks.torture.cluster import Round
from benchmarks.torture.kills import Moment, _aim_of
from benchmarks.torture.tally import Tally
from benchmarks.torture.windows import SliceFacts, Window, purchase_window, release_window

INTENT = SliceFacts(
    name="s",
    group="ring-a",
    state="REQUESTING",
    attempts=0,
    delete_asked=False,
    bought=False,
    ended=False,
    create_answered=False,
    delete_answered=False,
)
READY = replace(INTENT, state="READY", attempts=1, bought=True, create_answered=True)
ROUND = Round(7, "ring-a", 3, 0)


@pytest.mark.parametrize(
    ("facts", "window"),
    [
        (INTENT, Window.INTENT),
        (replace(INTENT, attempts=1), Window.CLAIMED),
        (replace(INTENT, attempts=1, bought=True), Window.SENT),
        (replace(INTENT, attempts=1, bought=True, create_answered=True), Window.ANSWERED),
        (replace(INTENT, attempts=1, bought=True, state="BOOTING"), Window.SAVED),
        (READY, Window.SAVED),
    ],
)
def test_a_purchase_is_between_two_steps(facts: SliceFacts, window: Window) -> None:
    assert purchase_window(facts) is window


@pytest.mark.parametrize(
    ("facts", "window"),
    [
        (READY, None),
        (replace(READY, state="DRAINING", delete_asked=True), Window.DELETE_DECIDED),
        (replace(READY, state="DRAINING", delete_asked=True, ended=True), Window.DELETE_SENT),
        (replace(READY, state="DRAINING", delete_asked=True, ended=True, delete_answered=True), Window.DELETE_ANSWERED),
        (replace(READY, state="TERMINATING", delete_asked=True, ended=True), Window.DELETE_SAVED),
    ],
)
def test_a_release_is_between_two_steps(facts: SliceFacts, window: Window | None) -> None:
    assert release_window(facts) is window


def test_every_window_is_aimed_at_once_in_each_block_whatever_the_seed() -> None:
    assert {aim.window for aim in AIMS} == set(Window)
    for seed in (1, 2):
        block = [_aim_of(number, seed).window for number in range(len(AIMS), 2 * len(AIMS))]
        assert Counter(block) == Counter(aim.window for aim in AIMS)
    assert [_aim_of(number, 1) for number in range(20)] == [_aim_of(number, 1) for number in range(20)]


def test_a_round_without_slices_was_killed_before_its_intent() -> None:
    going = replace(READY, name="old", state="DRAINING", delete_asked=True)
    moment = Moment(ROUND, Sight([], [going], False).hit(), 0.0, 0.0, 0)
    assert moment.counts() == {Window.BEFORE_INTENT: 3, Window.DELETE_DECIDED: 1}
    assert moment.window_of("old") == Window.DELETE_DECIDED
    assert moment.window_of("new") == Window.BEFORE_INTENT


def test_a_kill_counts_in_every_window_in_which_it_found_slices() -> None:
    sent = replace(INTENT, name="t", attempts=1, bought=True)
    moment = Moment(ROUND, Sight([INTENT, sent], [], False).hit(), 0.0, 0.0, 0)
    tally = Tally()
    tally.count(Window.SENT, moment.counts())
    tally.count(Window.DELETE_SENT, moment.counts())
    assert (tally.hit[Window.INTENT], tally.slices[Window.SENT]) == (2, 2)
    assert tally.missed() == [Window.DELETE_SENT]
