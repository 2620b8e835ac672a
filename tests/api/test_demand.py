"""`PUT /demand/{source}` and `/jobs/{id}` over HTTP."""

from typing import Any

import pytest

from iris_web.api import table
from scaling import clock
from scaling.models import Action, Job
from scaling.operations import demand
from scaling.testing.builders import make_hint, make_job
from tests.api.conftest import Api

pytestmark = pytest.mark.django_db

TOO_DEEP = "expected at most 12 levels of nesting (lists and objects inside each other), got more"
JOBS = [{"id": "a", "tasks": 12, "resources": {"tpu": 1}, "constraints": ["v5-8"]}, {"id": "b"}]


def test_a_scheduler_puts_its_whole_list(scheduler: Api) -> None:
    status, answer = scheduler.put("/demand/slurm", {"jobs": JOBS})
    assert (status, answer) == (
        200,
        {
            "source": "slurm",
            "listed": 2,
            "added": 2,
            "changed": 0,
            "unchanged": 0,
            "finished": 0,
            "cancelled": 0,
            "repeated": 0,
        },
    )
    assert Job.objects.get(job_id="a").tasks == 12
    action = Action.objects.get(kind="demand")
    assert (action.actor_kind, action.actor, action.source) == ("token", "scheduler-slurm", "api")


def test_a_bare_list_is_the_same(scheduler: Api) -> None:
    assert scheduler.put("/demand/slurm", JOBS)[1]["added"] == 2


def test_a_bare_empty_list_cancels_nothing_and_an_explicit_one_everything(scheduler: Api) -> None:
    scheduler.put("/demand/slurm", {"jobs": JOBS})
    assert scheduler.put("/demand/slurm", [])[0] == 400
    assert Job.objects.filter(state="pending").count() == 2
    assert scheduler.put("/demand/slurm", {"jobs": []})[1]["cancelled"] == 2


def test_the_list_is_idempotent(scheduler: Api) -> None:
    scheduler.put("/demand/slurm", {"jobs": JOBS})
    assert scheduler.put("/demand/slurm", {"jobs": JOBS})[1]["unchanged"] == 2
    assert Action.objects.filter(kind="demand").count() == 1


@pytest.mark.parametrize(
    ("jobs", "path", "message"),
    [
        ([{"id": "a"}, {"id": "b", "tasks": -2}], "jobs[1].tasks", "expected a whole number of at least 1, got -2"),
        (
            [{"id": "a", "resources": {"memory": "12 parsecs"}}],
            "jobs[0].resources.memory",
            '\'12 parsecs\' cannot be read; expected a size such as "4GiB", "192GB", "512Mi" or a number of bytes.',
        ),
        ([{"id": "a", "taks": 1}], "jobs[0].taks", 'unknown field; did you mean "tasks"?'),
    ],
)
def test_a_fault_is_one_sentence_with_its_path(scheduler: Api, jobs: Any, path: str, message: str) -> None:
    status, answer = scheduler.put("/demand/slurm", {"jobs": jobs})
    assert status == 400
    assert answer["errors"] == [{"path": path, "message": message}]
    assert answer["detail"] == f"{path}: {message}"
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("", "jobs: expected a list of jobs, got null"),
        ("null", "jobs: expected a list of jobs, got null"),
        ("5", "jobs: expected a list of jobs, got 5"),
        ("{}", "jobs: expected a value, got none"),
        ("[]", 'expected {"jobs": [...]}, got []; {"jobs": []} cancels every job of the source'),
        ('{"jobs": []', "body: expected JSON; Expecting ',' delimiter at line 1 column 12"),
        ('{"jobs": [NaN]}', "body: expected a finite number of at most 18 digits, got NaN"),
        ('{"jobs": [1e999]}', "body: expected a finite number of at most 18 digits, got 1e999"),
        ('{"jobs": [' + "9" * 5000 + "]}", "body: expected a finite number of at most 18 digits, got 999"),
        ('{"jobs": [], "jobs": []}', 'body: expected each name once in an object, got "jobs" twice'),
        ("[" * 100_000, f"body: {TOO_DEEP}"),
        ("[" * 20 + "]" * 20, f"body: {TOO_DEEP}"),
        ('[{"id": "a\\u0000"}]', "body: expected text without NUL or half surrogate pairs"),
        ('[{"id": "a\\ud800"}]', "body: expected text without NUL or half surrogate pairs"),
        (b'[{"id": "\xff"}]', "body: expected UTF-8, got another byte at 9"),
        ('{"jobs": [], "source": "x"}', "source: unknown field"),
    ],
)
def test_a_body_that_is_no_list_is_refused(scheduler: Api, body: Any, sentence: str) -> None:
    answer = scheduler.raw("PUT", "/demand/slurm", body or " ")
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert answer.json()["detail"].startswith(sentence)  # type: ignore[attr-defined]


def test_a_body_that_is_too_large_is_refused_by_its_length(scheduler: Api) -> None:
    body = b"[" + b" " * table.DEMAND_BYTES + b"]"
    status, answer = scheduler.call("PUT", "/demand/slurm", body)
    sentence = "the body is too large: expected at most 33,554,432 bytes (32 MiB) here, got 33,554,434"
    assert (status, answer["detail"]) == (413, sentence)


def test_a_list_of_too_many_jobs_is_refused(scheduler: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demand, "MAX_JOBS", 1)
    status, answer = scheduler.put("/demand/slurm", JOBS)
    assert (status, answer["detail"]) == (400, "jobs: expected at most 1 jobs, got 2")


def test_another_media_type_is_refused(scheduler: Api) -> None:
    for media in ("text/plain", "application/x-www-form-urlencoded", "application/yaml"):
        status, answer = scheduler.call("PUT", "/demand/slurm", "[]", content_type=media)
        assert (status, answer["detail"]) == (415, f'Content-Type: expected application/json, got "{media}"')
    for media, told in (
        ("application/json; charset=UTF-8", 200),
        ("application/json; charset=latin-1", 415),
        ("application/merge-patch+json", 415),
    ):
        assert scheduler.call("PUT", "/demand/slurm", '{"jobs": []}', content_type=media)[0] == told
    status, answer = scheduler.call("PUT", "/demand/slurm", "[]", headers={"Content-Encoding": "gzip"})
    assert (status, answer["detail"]) == (415, "Content-Encoding: expected none; compressed bodies are not read")


def test_a_job_is_put_read_with_its_hint_and_cancelled(scheduler: Api, viewer: Api) -> None:
    status, job = scheduler.put("/jobs/train-7", {"tasks": 3, "resources": {"gpu": 1}})
    assert (status, job["source"], job["id"], job["state"], job["hint"]) == (200, "slurm", "train-7", "pending", None)
    make_hint(Job.objects.get(job_id="train-7"), clock.now(), "no_matching_group", "no group has a gpu")
    for name in ("train-7", "slurm:train-7"):
        told = viewer.get(f"/jobs/{name}")[1]
        assert told["hint"]["code"] == "no_matching_group"
        assert told["hint"]["reason"] == "no_matching_group: no group has a gpu"
    status, job = scheduler.call("DELETE", "/jobs/train-7")
    assert (status, job["state"]) == (200, "cancelled")
    assert scheduler.call("DELETE", "/jobs/train-7") == (200, job)
    assert Action.objects.filter(kind="cancel_job").count() == 1
    Job.objects.update(state="done")
    assert scheduler.call("DELETE", "/jobs/train-7")[0] == 422


def test_an_id_with_blanks_around_it_is_not_taken_for_another(scheduler: Api) -> None:
    status, answer = scheduler.put("/demand/slurm", {"jobs": [{"id": "a"}, {"id": " a "}]})
    assert (status, answer["detail"]) == (400, 'jobs[1].id: expected a text without blanks at its ends, got " a "')
    assert scheduler.put("/jobs/a%20", {})[0] == 400
    assert not Job.objects.exists()


def test_a_job_of_an_admin_names_its_source(admin: Api) -> None:
    assert admin.put("/jobs/slurm:a", {"tasks": 1})[1]["source"] == "slurm"
    status, answer = admin.put("/jobs/a", {"tasks": 1})
    assert (status, answer["detail"]) == (400, 'expected /jobs/<source>:<id>, got "a"')


def test_a_scheduler_that_names_another_source_is_refused_and_may_spell_such_an_id_out(scheduler: Api) -> None:
    make_job(clock.now(), "x", source="demonstration")
    for method in ("PUT", "GET", "DELETE"):
        status, _ = scheduler.call(method, "/jobs/demonstration:x", {"tasks": 1} if method == "PUT" else None)
        assert status == (403 if method == "PUT" else 404)
    answer = scheduler.put("/jobs/demonstration:x", {"tasks": 1})[1]
    assert answer["detail"] == (
        'this token is confined to the demand source "slurm"; for an id of its own write /jobs/slurm:demonstration:x'
    )
    assert not Job.objects.filter(source="slurm").exists()
    assert scheduler.put("/jobs/slurm:demonstration:x", {"tasks": 1})[1]["id"] == "demonstration:x"
    assert scheduler.put("/jobs/array:7", {"tasks": 1})[1]["id"] == "array:7"


@pytest.mark.parametrize("job_id", ["with space", "a/b/c", "ünïcode", "a:b", "100%", "?"])
def test_a_job_id_may_hold_what_an_address_must_quote(scheduler: Api, job_id: str) -> None:
    from urllib.parse import quote

    assert scheduler.put(f"/jobs/{quote(job_id, safe='')}", {"tasks": 1})[1]["id"] == job_id
    assert scheduler.get(f"/jobs/{quote(job_id, safe='')}")[1]["id"] == job_id


def test_a_job_that_is_not_there_is_said(viewer: Api) -> None:
    status, answer = viewer.get("/jobs/nothing")
    assert (status, answer["detail"]) == (404, 'there is no job "nothing"')


def test_an_id_of_several_sources_is_refused(viewer: Api) -> None:
    make_job(clock.now(), "a", source="slurm")
    make_job(clock.now(), "a", source="k8s")
    assert viewer.get("/jobs/a")[0] == 422
    assert viewer.get("/jobs/k8s:a")[1]["source"] == "k8s"


def test_a_heartbeat_tells_how_the_worker_is(worker: Api) -> None:
    from scaling.testing.builders import make_group, make_slice

    make_slice(make_group("g"), clock.now(), name="s1")
    status, told = worker.post("/workers/s1-0/heartbeat", {"active_tasks": 4})
    assert (status, told["reported_tasks"], told["idle_since"]) == (200, 4, None)
    assert worker.post("/workers/s1-0/heartbeat", {})[1]["detail"] == "active_tasks: expected a value, got none"
