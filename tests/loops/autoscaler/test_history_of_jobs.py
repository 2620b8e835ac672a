"""The history says for which jobs a slice is bought."""

from scaling.models import Platform
from scaling.testing import builders
from tests.loops.autoscaler.conftest import ControlPlane


def a_job(iris: ControlPlane, name: str, tasks: int = 1, **spec: object) -> None:
    wanted = {"resources": {"tpu": {"variant": "v5p-8"}}, "tasks": tasks, **spec}
    builders.make_job(iris.clock(), name, tasks=tasks, pending_tasks=tasks, spec=wanted)


def test_a_request_names_the_job_and_the_shape_that_it_is_for(iris: ControlPlane) -> None:
    builders.make_group("v5p", platform=iris.row)
    a_job(iris, "train", tasks=2)
    iris.cycle()
    rows = iris.actions("scale_up")
    assert [(row.job, row.target) for row in rows] == [("train", "source demo")] * 2
    assert {row.reason for row in rows} == {"for waiting tasks of train (TPU-v5p-8)"}
    assert rows[0].after == {"shape": "TPU-v5p-8", "jobs": [{"job": "demo:train", "tasks": 1}], "more_jobs": 0}


def test_each_job_finds_its_own_slice_when_each_takes_one_whole(iris: ControlPlane) -> None:
    builders.make_group("v5p", platform=iris.row, max_slices=8)
    for number in range(3):
        a_job(iris, f"eval-{number}")
    iris.cycle()
    assert sorted(row.job for row in iris.actions("scale_up")) == ["eval-0", "eval-1", "eval-2"]


def test_jobs_that_share_a_slice_are_counted_and_named(iris: ControlPlane) -> None:
    builders.make_group(
        "cpu", platform=iris.row, device_type="cpu", device_variant="", devices_per_worker=0, worker_cpu=8, max_slices=4
    )
    for number in range(3):
        builders.make_job(iris.clock(), f"word-{number}", spec={"resources": {"cpu": 2}, "tasks": 1})
    iris.cycle()
    (row,) = iris.actions("scale_up")
    assert row.reason == f"for waiting tasks of {row.job} and 2 more jobs (CPU)"
    assert row.after and sorted(one["job"] for one in row.after["jobs"]) == [
        "demo:word-0",
        "demo:word-1",
        "demo:word-2",
    ]


def test_a_gang_is_named_with_its_shape(iris: ControlPlane) -> None:
    builders.make_group("v5p", platform=iris.row, workers_per_slice=2)
    a_job(iris, "sweep", tasks=4, gang=True)
    iris.cycle()
    assert {(row.job, row.reason) for row in iris.actions("scale_up")} == {("sweep", "for gang demo:sweep (TPU-v5p-8)")}


def test_a_slice_for_a_floor_is_for_no_job(iris: ControlPlane) -> None:
    builders.make_group("v5p", platform=iris.row, min_slices=1)
    iris.cycle()
    (row,) = iris.actions("scale_up")
    assert (row.job, row.target, row.after, row.reason) == ("", "", None, "to keep min_slices")


def test_a_watched_plan_is_not_told_again_because_other_jobs_came(iris: ControlPlane) -> None:
    Platform.objects.filter(pk=iris.row.pk).update(mode=Platform.Mode.OBSERVE)
    builders.make_group("v5p", platform=iris.row, max_slices=1)
    a_job(iris, "first")
    iris.cycle()
    a_job(iris, "second")
    iris.later(10)
    iris.cycle()
    (row,) = iris.actions("scale_up")
    assert (row.job, row.reason, row.outcome) == ("first", "for waiting tasks", "observed")
