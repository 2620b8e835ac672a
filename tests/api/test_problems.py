"""Every refusal is problem+json with one sentence; nothing of the inside is told."""

from typing import Any

import pytest
from django.db import OperationalError

from iris_web.api import handlers
from tests.api.conftest import Api

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/nothing", "/groups/", "/", "/markers/x", "/demand/a/b", "/openapi.yaml"])
def test_an_address_that_is_none_is_404(viewer: Api, path: str) -> None:
    answer = viewer.raw("GET", path)
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")
    assert f"nothing at /api/v1{path}" in answer.json()["detail"]  # type: ignore[attr-defined]


def test_the_nearest_address_is_told(viewer: Api) -> None:
    told = viewer.get("/gruops/tpu-v5-8")[1]["detail"]
    assert told.startswith('there is nothing at /api/v1/gruops/tpu-v5-8; did you mean "groups"? /api/v1/docs')


def test_a_method_that_is_not_possible_is_405_and_says_which_are(viewer: Api) -> None:
    answer = viewer.raw("DELETE", "/groups")
    assert (answer.status_code, answer["Allow"]) == (405, "GET")
    assert answer.json()["detail"] == "DELETE is not possible here; expected GET"  # type: ignore[attr-defined]
    assert viewer.raw("GET", "/demand/slurm")["Allow"] == "PUT"


def test_a_head_is_answered_like_a_get(viewer: Api) -> None:
    assert viewer.raw("HEAD", "/groups").status_code == 200


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("limit=0", "limit: expected a whole number of at least 1, got 0"),
        ("limit=501", "limit: expected a whole number of at most 500, got 501"),
        ("limit=ten", 'limit: expected a whole number of at least 1, got "ten"'),
        ("limit=5&limit=6", "limit: expected once, got more"),
        ("zones=a&limit=0&draining=perhaps", 'zones: unknown parameter; did you mean "zone"? (and 2 more)'),
        ("zones=a", 'zones: unknown parameter; did you mean "zone"?'),
        ("pool=v5e", 'pool: unknown parameter; did you mean "quota_pool"?'),
        ("page=2", 'page: unknown parameter; did you mean "cursor"?'),
        ("draining=perhaps", 'draining: expected true or false, got "perhaps"'),
        ("cursor=nonsense", "cursor: expected the `next` of an earlier page"),
        ("cursor=ImEi'", "cursor: expected the `next` of an earlier page"),
        ("limit=%D9%A1", 'limit: expected a whole number of at least 1, got "\\u0661"'),
        ("limit=1_0", 'limit: expected a whole number of at least 1, got "1_0"'),
        ("draining=1", 'draining: expected true or false, got "1"'),
        ("cursor=MQ==", "cursor: expected the `next` of an earlier page"),
        ("zone=%00", "zone: expected no invisible characters, got U+0000 (control character)"),
    ],
)
def test_a_query_that_cannot_be_read_is_refused(viewer: Api, query: str, sentence: str) -> None:
    status, answer = viewer.get(f"/groups?{query}")
    assert (status, answer["detail"]) == (400, sentence)


def test_a_body_where_an_object_is_expected_is_refused(operator: Api) -> None:
    for body in ("[]", "5", '"x"', "null"):
        status, answer = operator.call("POST", "/groups/g/drain", body)
        assert status == 400
        assert answer["detail"].startswith("expected an object, got")


def test_a_body_of_an_act_is_small(operator: Api) -> None:
    status, answer = operator.post("/groups/g/drain", {"reason": "x" * 70_000})
    assert (status, answer["detail"]) == (
        413,
        "the body is too large: expected at most 65,536 bytes (64 KiB) here, got 70,014",
    )


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (OperationalError("secret host 10.0.0.1"), 503, "the database does not answer; try again"),
        (ZeroDivisionError("secret"), 500, "Iris failed on this request; its log has the details"),
    ],
)
def test_a_failure_inside_tells_nothing_of_the_inside(
    viewer: Api, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, sentence: str
) -> None:
    def fail(*_args: Any) -> None:
        raise error

    monkeypatch.setattr(handlers, "overview", fail)
    answer = viewer.raw("GET", "/status")
    assert (answer.status_code, answer.json()["detail"]) == (status, sentence)  # type: ignore[attr-defined]
    assert b"secret" not in answer.content


def test_answers_are_kept_by_no_cache(viewer: Api) -> None:
    assert viewer.raw("GET", "/groups")["Cache-Control"] == "no-store"
