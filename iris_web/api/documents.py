"""The API's own documentation: the OpenAPI document, and a page of it for people without any foreign host."""

from itertools import groupby
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from iris_web.api.openapi import INTRODUCTION, body_schema, document, statuses
from iris_web.api.routes import Route
from iris_web.api.table import ROUTES


@require_safe
def openapi(_request: HttpRequest) -> HttpResponse:
    return JsonResponse(document())


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Every address with its role, inputs and failures, by noun."""
    by_tag = sorted(ROUTES, key=lambda route: route.tag)
    sections = [
        {"tag": tag, "routes": [_described(route) for route in routes]}
        for tag, routes in groupby(by_tag, key=lambda route: route.tag)
    ]
    return render(request, "api/docs.html", {"introduction": INTRODUCTION, "sections": sections})


def _described(route: Route) -> dict[str, Any]:
    query = [{"name": name, "type": type_words(of.kind.schema()), "doc": of.doc} for name, of in route.query.items()]
    return {
        "method": route.method,
        "path": f"/api/v1{route.path}",
        "summary": route.summary,
        "description": route.description,
        "roles": route.needs.words(),
        "query": query,
        "body": _members(body_schema(route) or {}),
        "statuses": statuses(route),
    }


def _members(schema: Any, below: str = "") -> list[dict[str, Any]]:
    """The fields of a body, those of list items among them (`jobs[].tasks`)."""
    required, members = set(schema.get("required", ())), []
    for name, of in schema.get("properties", {}).items():
        told = {"name": below + name, "type": type_words(of), "doc": of.get("description", "")}
        members.append(told | {"required": name in required})
        members += _members(of.get("items", {}), f"{below}{name}[].")
    return members


def type_words(schema: Any) -> str:
    """A schema in a few words: `integer 1 to 500`, `one of cpu, gpu, tpu`, `date-time or number or null`."""
    if "oneOf" in schema:
        return " or ".join(type_words(one) for one in schema["oneOf"])
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    kind = schema.get("type", "any")
    words = schema.get("format") or (kind if isinstance(kind, str) else " or ".join(kind))
    if "minimum" in schema:
        words += f", {schema['minimum']:,} to {schema['maximum']:,}"
    return words + (f", at most {schema['maxLength']} characters" if "maxLength" in schema else "")
