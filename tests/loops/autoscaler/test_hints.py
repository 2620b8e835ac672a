"""Hints as a cycle stores them, and who hears of them."""

from scaling.models import Event, GroupStatus, Hint
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


def test_each_group_is_told_how_many_jobs_and_tasks_wait_for_it_and_who_follows_it_hears(iris: ControlPlane) -> None:
    for name, variant in (("a", "v5p-8"), ("b", "v5p-8"), ("c", "v4-8")):
        group = builders.make_group(name, platform=iris.row, device_variant=variant)
        builders.make_marker(group, iris.clock(), until=builders.after(iris.clock(), 900))
    iris.cycle()

    def waiting() -> list[tuple[int, ...]]:
        rows = GroupStatus.objects.order_by("group__name")
        return list(rows.values_list("waiting_jobs", "waiting_tasks", "waiting_alone"))

    def shape(variant: str) -> dict[str, object]:
        return {"resources": {"tpu": {"variant": variant}}, "tasks": 3}

    assert waiting() == [(0, 0, 0)] * 3
    builders.make_job(iris.clock(), "either", spec=shape("v5p-8"), tasks=3, pending_tasks=3)
    builders.make_job(iris.clock(), "again", spec=shape("v5p-8"), tasks=3, pending_tasks=2)
    builders.make_job(iris.clock(), "alone", spec=shape("v4-8"), tasks=3, pending_tasks=1)
    Event.objects.all().delete()
    iris.cycle()
    assert waiting() == [(2, 5, 0), (2, 5, 0), (1, 1, 1)]
    told = Event.objects.filter(kind="evaluation", topic__startswith="group:").values_list("topic", flat=True)
    assert sorted(told) == ["group:a", "group:b", "group:c"]
    assert [len(hint.blocked_by) for hint in Hint.objects.order_by("job__job_id")] == [2, 1, 2]
