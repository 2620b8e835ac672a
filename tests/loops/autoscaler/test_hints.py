"""Hints as a cycle stores them, and who hears of them."""

from scaling.models import Event, Hint
from scaling.testing import builders
from tests.loops.autoscaler.conftest import ControlPlane


def test_the_end_of_a_blockade_is_stored_as_a_time_that_people_and_programs_read(iris: ControlPlane) -> None:
    group = builders.make_group("v5p", platform=iris.row)
    builders.make_marker(group, iris.clock(), until=builders.after(iris.clock(), 900))
    builders.make_job(iris.clock(), "train")
    iris.cycle()
    assert Hint.objects.get().blocked_by == [
        {"group": "v5p", "outcome": "STOCKOUT", "until": "2026-01-01T12:15:00+00:00"}
    ]


def test_a_hint_that_stays_is_not_written_again(iris: ControlPlane) -> None:
    group = builders.make_group("v5p", platform=iris.row)
    builders.make_marker(group, iris.clock(), until=builders.after(iris.clock(), 900))
    builders.make_job(iris.clock(), "train")
    iris.cycle()
    iris.later(10)
    iris.cycle()
    assert Event.objects.filter(kind="hint").count() == 1


def test_whoever_follows_a_job_hears_of_its_hint(iris: ControlPlane) -> None:
    builders.make_job(iris.clock(), "a:b/c", source="slurm")
    iris.cycle()
    assert Event.objects.get(kind="hint").topic == "job:slurm/a:b/c"
