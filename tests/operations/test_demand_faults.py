"""Bad demand: one clear sentence with the path of the fault, and nothing changed."""

from typing import Any

import pytest

from scaling import operations
from scaling.history import Actor
from scaling.models import Job
from scaling.operations import demand
from tests.operations.support import nothing_happened

pytestmark = pytest.mark.django_db

GOOD = {"id": "good", "resources": {"cpu": 1}}


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"tasks": -2}, "jobs[1].tasks: expected a whole number of at least 1, got -2"),
        ({"tasks": 0}, "jobs[1].tasks: expected a whole number of at least 1, got 0"),
        ({"tasks": 1.5}, "jobs[1].tasks: expected a whole number of at least 1, got 1.5"),
        ({"tasks": "3"}, 'jobs[1].tasks: expected a whole number of at least 1, got "3"'),
        ({"tasks": 1_000_001}, "jobs[1].tasks: expected a whole number of at most 1,000,000, got 1000001"),
        (
            {"resources": {"tpu": 1_000_000}, "tasks": 2},
            "jobs[1].tasks: expected at most 1,000,000 tasks, got 2,000,000",
        ),
        (
            {"resources": {"cpu": "12 parsecs"}},
            "jobs[1].resources.cpu: '12 parsecs' cannot be read; expected a number of cores",
        ),
        (
            {"resources": {"memory": "4 furlongs"}},
            "jobs[1].resources.memory: '4 furlongs' cannot be read; expected a size",
        ),
        ({"resources": {"memory": "-4GiB"}}, "jobs[1].resources.memory: '-4GiB' is negative"),
        ({"resources": {"gpu": -1}}, "jobs[1].resources.gpu: -1 is negative"),
        ({"resources": {"gpu": 1.5}}, "jobs[1].resources.gpu: expected whole GPUs or a share of one below 1"),
        ({"resources": {"tpu": {"version": "v5p"}}}, "jobs[1].resources.tpu: expected version and topology"),
        ({"resources": {"gpus": 1}}, "jobs[1].resources.gpus: 'gpus' is unknown, expected cpu, memory, disk, tpu, gpu"),
        ({"resources": 5}, "jobs[1].resources: expected an object, got 5"),
        ({"constraints": "zone"}, 'jobs[1].constraints: expected a list, got "zone"'),
        (
            {"constraints": ["ok", {"key": "zone", "operator": "LIKE"}]},
            "jobs[1].constraints[1]: constraint on zone: operator",
        ),
        (
            {"constraints": [{"key": "zone", "values": []}]},
            "jobs[1].constraints[0]: constraint on zone: EQ takes exactly one",
        ),
        ({"constraints": [7.5, []]}, "jobs[1].constraints[1]: constraint []: expected a word or a mapping"),
        (
            {"constraints": ["us-east5", "region=us-east5"]},
            "jobs[1].constraints[1]: constraint 'region=us-east5': expected the word us-east5 or {key: region",
        ),
        ({"device": {"type": "npu"}}, "jobs[1].device: expected a type, one of cpu, gpu, tpu"),
        ({"tier": "gold"}, 'jobs[1].tier: expected one of production, standard, batch, got "gold"'),
        ({"gang": "yes"}, 'jobs[1].gang: expected true or false, got "yes"'),
        ({"priority": "high"}, 'jobs[1].priority: expected a whole number of at least -1,000,000, got "high"'),
        ({"run_seconds": -1}, "jobs[1].run_seconds: expected a number of at least 0, got -1"),
        ({"submitted": "yesterday"}, "jobs[1].submitted: expected a time such as 2031-05-30T12:00:00Z"),
        ({"task": 3}, 'jobs[1].task: unknown field; did you mean "tasks"?'),
        ({"id": ""}, "jobs[1].id: expected some text, got none"),
        ({"id": "x" * 201}, "jobs[1].id: expected at most 200 characters, got 201"),
        ({"id": "a\nb\x00"}, "jobs[1].id: expected one line without tabs, got U+000A (control character)"),
        ({"id": "rtl\u202eabc"}, "jobs[1].id: expected no invisible characters, got U+202E (right-to-left override)"),
        (
            {"constraints": ["a", {"key": "r", "values": ["\u2066"]}]},
            "jobs[1].constraints[1].values[0]: expected no",
        ),
        (
            {"resources": {"c\u200bpu": 1}},
            "jobs[1].resources: expected no invisible characters, got U+200B (zero",
        ),
        ({"id": 7}, "jobs[1].id: expected text, got 7"),
        (
            {"constraints": ["w" * 300] * 60},
            "jobs[1].resources: expected at most 16,384 characters of resources and constraints",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_at_its_path(actor: Actor, told: dict[str, Any], sentence: str) -> None:
    with pytest.raises(operations.InvalidRequest) as refused:
        operations.put_demand(actor, "slurm", [GOOD, {"id": "bad", **told}])
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)
    assert not Job.objects.exists()
    assert nothing_happened()


def test_all_faults_of_a_job_are_told_at_once(actor: Actor) -> None:
    bad = {"tasks": -2, "foo": 1, "submitted": "soon", "resources": {"cpu": "1 banana", "memory": "lots"}}
    with pytest.raises(operations.InvalidRequest) as refused:
        operations.put_demand(actor, "slurm", [{"id": "a", **bad, "constraints": ["zone=b", "ok", ""]}, {}])
    paths = {fault.path for fault in refused.value.faults}
    inside = {"tasks", "foo", "submitted", "resources.cpu", "resources.memory", "constraints[0]", "constraints[2]"}
    assert paths == {f"jobs[0].{path}" for path in inside} | {"jobs[1].id"}


@pytest.mark.parametrize(
    ("jobs", "sentence"),
    [
        (None, "jobs: expected a list of jobs, got null"),
        ({"id": "a"}, "jobs: expected a list of jobs, got an object"),
        ("a", 'jobs: expected a list of jobs, got "a"'),
        (["a"], 'jobs[0]: expected an object, got "a"'),
        ([{}], "jobs[0].id: expected a value, got none"),
        ([None], "jobs[0]: expected an object, got null"),
    ],
)
def test_what_is_no_list_of_jobs_is_refused(actor: Actor, jobs: object, sentence: str) -> None:
    with pytest.raises(operations.InvalidRequest) as refused:
        operations.put_demand(actor, "slurm", jobs)
    assert str(refused.value) == sentence


@pytest.mark.parametrize("source", ["", "a b", "a:b", "a/b", "x" * 101, "ü"])
def test_a_source_is_a_plain_word(actor: Actor, source: str) -> None:
    with pytest.raises(operations.InvalidRequest, match=r"^source: expected 1 to 100 letters, digits"):
        operations.put_demand(actor, source, [])


def test_one_bad_job_changes_nothing_of_what_was_asked_before(actor: Actor) -> None:
    operations.put_demand(actor, "slurm", [GOOD])
    with pytest.raises(operations.InvalidRequest):
        operations.put_demand(actor, "slurm", [{**GOOD, "priority": 5}, {"id": "bad", "tasks": -1}])
    assert Job.objects.get().priority == 100


def test_faults_of_several_jobs_are_told_together_up_to_twenty(actor: Actor) -> None:
    with pytest.raises(operations.InvalidRequest) as refused:
        operations.put_demand(actor, "slurm", [{"id": f"j{n}", "tasks": -n} for n in range(1, 60)])
    assert len(refused.value.faults) == 20
    assert str(refused.value).startswith("jobs[0].tasks: expected a whole number of at least 1, got -1 (and 19 more)")


def test_a_list_that_is_too_long_is_refused(actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demand, "MAX_JOBS", 2)
    with pytest.raises(operations.InvalidRequest, match="jobs: expected at most 2 jobs, got 3"):
        operations.put_demand(actor, "slurm", [GOOD] * 3)
