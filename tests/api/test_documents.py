"""The API's own documentation is made from what serves it."""

import json
import re
from typing import Any

import pytest
from django.test import Client

from iris_web.api.documents import type_words
from iris_web.api.openapi import document
from iris_web.api.table import ROUTES

pytestmark = pytest.mark.django_db


def _references(value: Any) -> set[str]:
    return set(re.findall(r"#/components/schemas/(\w+)", json.dumps(value)))


def test_every_route_is_described_with_its_failures() -> None:
    paths = document()["paths"]
    assert sum(map(len, paths.values())) == len(ROUTES)
    for path, methods in paths.items():
        for told in methods.values():
            assert {"401", "403"} <= set(told["responses"])
            assert set(re.findall(r"\{(\w+)\}", path)) == {
                parameter["name"] for parameter in told["parameters"] if parameter["in"] == "path"
            }


@pytest.mark.parametrize(
    ("noun", "member", "word"),
    [("Group", "outcome", "STOCKOUT"), ("Action", "source", "admin"), ("Hint", "code", "tier_blocked"),
     ("Job", "tier", "batch"), ("Deployment", "gate", "cooldown"), ("Deployment", "zero_by", "operator")],
)  # fmt: skip
def test_a_member_of_few_words_tells_all_of_them(noun: str, member: str, word: str) -> None:
    """And null, where it may be that: a client checks the word itself against the list."""
    told = document()["components"]["schemas"][noun]["properties"][member]
    assert word in told["enum"] and (None in told["enum"]) == ("null" in told["type"])


def test_operation_ids_are_unique() -> None:
    ids = [told["operationId"] for methods in document()["paths"].values() for told in methods.values()]
    assert len(ids) == len(set(ids))


def test_every_reference_has_a_definition_and_each_is_used() -> None:
    defined = set(document()["components"]["schemas"])
    assert _references(document()["paths"]) == defined


def test_the_body_of_demand_is_described_down_to_a_job() -> None:
    put = document()["paths"]["/demand/{source}"]["put"]
    schema = put["requestBody"]["content"]["application/json"]["schema"]
    job = schema["properties"]["jobs"]["items"]
    assert job["required"] == ["id"]
    assert job["properties"]["tasks"]["minimum"] == 1
    assert job["additionalProperties"] is False
    assert "cancelled" in put["description"]


def test_the_document_is_served_to_anyone_for_it_holds_no_data() -> None:
    answer = Client().get("/api/v1/openapi.json")
    assert answer.status_code == 200
    assert answer.json()["openapi"] == "3.1.0"
    assert Client().post("/api/v1/openapi.json").status_code == 405


def test_the_page_for_people_names_every_address_and_no_foreign_host() -> None:
    answer = Client().get("/api/v1/docs")
    page = answer.content.decode()
    assert answer.status_code == 200
    text = re.sub(r"<[^>]+>", "", page)
    for route in ROUTES:
        assert f"{route.method} /api/v1{route.path}" in text
    assert "jobs[].tasks" in page
    assert not re.search(r"(?:src|href)=[\"'](?:https?:)?//", page)
    assert "<script>" not in page
    assert " style=" not in page


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 500}, "integer, 1 to 500"),
        ({"type": "string", "enum": ["a", "b"]}, "one of a, b"),
        ({"oneOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "date-time or null"),
        ({"type": ["string", "null"], "maxLength": 9}, "string or null, at most 9 characters"),
    ],
)
def test_a_schema_is_told_in_a_few_words(schema: dict[str, Any], words: str) -> None:
    assert type_words(schema) == words
