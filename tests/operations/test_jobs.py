"""One job by itself: asked for, changed, cancelled, found."""

from typing import Any

import pytest

from scaling import operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Action, Job
from scaling.testing.builders import make_group, make_job, make_slice, make_task
from tests.operations.support import last_action, nothing_happened, topics

pytestmark = pytest.mark.django_db


def test_a_job_is_asked_for_beside_the_list(actor: Actor) -> None:
    operations.put_demand(actor, "slurm", [{"id": "listed"}])
    job = operations.put_job(actor, "slurm", "extra", {"tasks": 3})
    assert (job.state, job.tasks) == ("pending", 3)
    assert Job.objects.filter(state="pending").count() == 2
    action = last_action()
    assert (action.kind, action.job, action.target) == ("put_job", "extra", "source slurm")


def test_asking_for_the_same_again_changes_nothing(actor: Actor) -> None:
    operations.put_job(actor, "slurm", "a", {"tasks": 3})
    operations.put_job(actor, "slurm", "a", {"tasks": 3})
    assert Action.objects.count() == 1


def test_a_changed_job_is_told_to_its_page(actor: Actor) -> None:
    operations.put_job(actor, "slurm", "a", {"tasks": 3})
    assert operations.put_job(actor, "slurm", "a", {"tasks": 4}).tasks == 4
    assert "job:slurm/a" in topics()


@pytest.mark.parametrize(
    ("job_id", "values", "sentence"),
    [
        ("a", {"tasks": -2}, "tasks: expected a whole number of at least 1, got -2"),
        ("a", {"resources": {"cpu": "12 parsecs"}}, "resources.cpu: '12 parsecs' cannot be read"),
        ("a", {"id": "b"}, "id: unknown field"),
        ("x" * 201, {}, "id: expected at most 200 characters, got 201"),
        ("a", [], "expected an object, got a list"),
    ],
)
def test_a_job_that_cannot_be_read_is_refused(actor: Actor, job_id: str, values: Any, sentence: str) -> None:
    with pytest.raises(operations.InvalidRequest) as refused:
        operations.put_job(actor, "slurm", job_id, values)
    assert str(refused.value).startswith(sentence)
    assert nothing_happened()


def test_a_cancelled_job_ends_with_its_tasks(actor: Actor, frozen_clock: FrozenClock) -> None:
    job = make_job(frozen_clock(), "a", source="slurm", state="running", running_tasks=1, pending_tasks=0)
    slice_ = make_slice(make_group(), frozen_clock(), idle=None)
    task = make_task(job, slice_.workers.get(), frozen_clock())
    cancelled = operations.delete_job(actor, "slurm", "a", "not needed")
    assert (cancelled.state, cancelled.running_tasks) == ("cancelled", 0)
    task.refresh_from_db()
    assert task.state == "lost"
    action = last_action()
    assert (action.kind, action.job, action.reason) == ("cancel_job", "a", "not needed")
    assert action.before == {"state": "running", "pending_tasks": 0, "running_tasks": 1}


def test_a_job_that_has_ended_is_not_cancelled(actor: Actor, frozen_clock: FrozenClock) -> None:
    make_job(frozen_clock(), "a", source="slurm", state="done")
    with pytest.raises(operations.OperationRefused, match="job a is done already"):
        operations.delete_job(actor, "slurm", "a")
    with pytest.raises(operations.NotFound, match='source k8s has no job "a"'):
        operations.delete_job(actor, "k8s", "a")


def test_a_job_is_found_by_its_id_where_that_is_unique(frozen_clock: FrozenClock) -> None:
    job = make_job(frozen_clock(), "train:7", source="slurm")
    assert operations.find_job("train:7") == job
    assert operations.find_job("slurm:train:7") == job
    assert operations.find_job("train:7", "slurm") == job
    with pytest.raises(operations.NotFound, match='there is no job "train:7"'):
        operations.find_job("train:7", "k8s")


def test_a_job_id_of_several_sources_needs_its_source(frozen_clock: FrozenClock) -> None:
    make_job(frozen_clock(), "a", source="slurm")
    other = make_job(frozen_clock(), "a", source="k8s")
    with pytest.raises(operations.OperationRefused, match="several sources have a job"):
        operations.find_job("a")
    assert operations.find_job("k8s:a") == other
    assert operations.find_job("a", "k8s") == other
