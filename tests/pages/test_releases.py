"""Why a slice is still there: one answer each, the first rule that says something."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from iris_web.access import Role
from iris_web.pages.group import slices
from iris_web.pages.releases import Crew, Situation, why_kept
from scaling.models import Group, Slice, Worker
from scaling.testing import builders
from tests.loops.autoscaler.conftest import ControlPlane, iris, listed  # noqa: F401 - a fixture is found by its name

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def situation(
    slice_: dict[str, object] | None = None, group: dict[str, object] | None = None, **fields: object
) -> Situation:
    """A READY slice that has been idle for ten minutes in a group with nothing to keep."""
    row = Slice(**{"name": "s", "state": "READY", "requested_at": ago(1000), "idle_since": ago(600), **(slice_ or {})})
    given = {"crew": Crew(workers=2, ready=2), "target": 0, "ready": 1, "now": NOW, **fields}
    return Situation(row, Group(name="g", max_slices=4, **(group or {})), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("case", "text"),
    [
        (situation(), "may go in the next cycle, unless demand needs it"),
        (situation({"state": "REQUESTING"}), "waits for the platform to accept it"),
        (situation({"state": "REQUESTING", "next_attempt_at": NOW + timedelta(seconds=9), "attempts": 2}),
         "is asked for again (asked 2×) in"),
        (situation({"state": "BOOTING"}), "counts as failed in"),
        (situation({"state": "TERMINATING", "reason": "idle for 6 min"}), "idle for 6 min"),
        (situation({"idle_since": None}, crew=Crew(workers=4, ready=4, busy=3, tasks=5)),
         "in use: 5 tasks on 3 of 4 workers"),
        (situation(crew=Crew(workers=2, ready=1, lost=1)), "1 of 2 workers not found: the whole slice goes"),
        (situation(crew=Crew(workers=2, unknown=2, unknown_since=ago(30))), "no worker is known"),
        (situation({"idle_since": ago(299)}), "idle; may go in"),
        (situation({"gang": "demo:big"}), "kept for the gang demo:big"),
        (situation(group={"min_slices": 1, "buffer_slices": 2}, target=3, ready=3, spare=False),
         "kept: 3 ready, target 3 (min 1, buffer 2)"),
        (situation(held="releasing is halted"), "could go; releasing is halted"),
        (situation({"idle_since": ago(215)}, group={"min_slices": 1, "buffer_slices": 1}, target=2, spare=False),
         "kept: 1 ready, target 2 (min 1, buffer 1)"),
        (situation({"idle_since": None}, {"drain_since": ago(9), "drain_deadline": NOW + timedelta(seconds=9)},
                   crew=Crew(workers=1, ready=1, busy=1)), "in use: 1 of 1 worker; ends in"),
        (situation({"idle_since": None, "drain_since": ago(9), "drain_deadline": ago(1)}),
         "goes in the next cycle: the drain's deadline has passed"),
    ],
)  # fmt: skip
def test_each_situation_has_its_answer(case: Situation, text: str) -> None:
    assert why_kept(case).text == text


def test_idle_for_exactly_the_threshold_may_go() -> None:
    assert why_kept(situation({"idle_since": ago(300)})).text.startswith("may go")
    assert why_kept(situation({"idle_since": ago(299.9)})).text == "idle; may go in"


def test_while_draining_the_window_is_the_longer_one_and_the_target_keeps_nothing() -> None:
    drained = situation({"idle_since": ago(599)}, {"drain_since": ago(900)}, target=5, spare=False)
    assert why_kept(drained).until == NOW + timedelta(seconds=1)
    own = situation({"idle_since": ago(299)}, {"drain_since": ago(900), "drain_idle_threshold_seconds": 300})
    assert why_kept(own).until == NOW + timedelta(seconds=1)
    drained.slice.idle_since = ago(600)
    assert why_kept(drained).text.startswith("may go")


def test_a_drained_slice_is_not_kept_for_the_target() -> None:
    case = situation({"drain_since": ago(900), "idle_since": ago(600)}, target=1, ready=1, spare=False)
    assert why_kept(case).text.startswith("may go")


def test_work_wins_over_every_other_reason() -> None:
    case = situation(
        {"idle_since": None, "gang": "demo:big"},
        crew=Crew(workers=1, ready=1, busy=1, tasks=1),
        held="releasing is halted",
    )
    assert why_kept(case).text == "in use: 1 task on 1 of 1 worker"


def test_halting_keeps_only_what_could_go() -> None:
    fresh = situation({"idle_since": ago(1)}, held="releasing is halted")
    assert why_kept(fresh).text == "releasing is halted; idle for long enough in"
    assert why_kept(replace(fresh, now=NOW + timedelta(hours=1))).text == "could go; releasing is halted"


def test_the_page_says_of_each_slice_what_the_planner_then_does(iris: ControlPlane) -> None:  # noqa: F811
    """Five are ready, two stay for min and buffer, one works: of the four idle ones the three longest idle may go."""
    group = builders.make_group("g", platform=iris.row, min_slices=1, buffer_slices=1, max_slices=9)
    for name, idle_seconds in (("a", 30), ("b", 120), ("c", None), ("d", 200), ("e", 10)):
        listed(iris, builders.make_slice(group, iris.clock(), idle=idle_seconds, name=name))
    Worker.objects.filter(slice__name="c").update(reported_tasks=1)
    iris.plan()
    told = {row.slice.name: row.why for row in slices({"name": "g"}, Role.VIEWER)["rows"]}
    going = sorted(name for name, why in told.items() if why.text == "idle; may go in")
    iris.clock.advance(301)
    Worker.objects.update(heard_at=iris.clock())
    iris.plan()
    assert going == sorted(Slice.objects.filter(state="DRAINING").values_list("name", flat=True)) == ["a", "b", "d"]
    assert told["e"].text == "kept: 5 ready, target 2 (min 1, buffer 1)"
