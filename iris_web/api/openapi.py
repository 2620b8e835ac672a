"""The OpenAPI 3.1 document, made from the table of routes: it cannot say what the code does not do."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from iris_web.api import deployments
from iris_web.api.listings import MAX_LIMIT
from iris_web.api.problems import CONTENT_TYPE, PROBLEM_SCHEMA
from iris_web.api.resources import RESOURCES
from iris_web.api.routes import Route
from iris_web.api.table import ROUTES
from iris_web.pages.words import size

VERSION = "1.0"
INTRODUCTION = (
    'Send a token with each call: "Authorization: Bearer iris_…". An admin makes tokens; each has one role.',
    "Bodies are JSON, and so are answers. Times are ISO 8601; without a zone they are UTC.",
    "A parameter that an address does not have, or a word that it does not list, is refused (400), not ignored.",
    "Errors are application/problem+json: one sentence in detail, and in errors the path of each fault.",
    f"Lists come in pages of at most {MAX_LIMIT} items; next is the cursor of the following page.",
    "Give back the version of what you change, and you are told (409) when someone else changed it first.",
)

# Status → when it is answered; what every route may answer with besides success.
_ALWAYS = {
    "400": "It cannot be read as what it must be; `errors` names each place and what is expected there.",
    "401": "No token, or one that is unknown, revoked or expired.",
    "403": "The token's role does not allow this.",
    "503": "The database does not answer.",
}
_WITH_BODY = {
    "415": "The body is not JSON.",
    "422": "The request is readable and is refused; nothing was changed.",
}
_PARAMETER = re.compile(r"\{(\w+)\}")


@cache
def document() -> dict[str, Any]:
    """The whole document."""
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Iris", "version": VERSION, "description": "\n".join(INTRODUCTION)},
        "servers": [{"url": "/api/v1"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": _definitions(),
        },
    }


def _definitions() -> dict[str, Any]:
    told = {resource.name: resource.definition() for resource in (*RESOURCES, *deployments.RESOURCES)}
    return told | {"Problem": PROBLEM_SCHEMA}


def _operation(route: Route) -> dict[str, Any]:
    told = {
        "operationId": operation_id(route),
        "tags": [route.tag],
        "summary": route.summary,
        "description": f"{route.description}\n\nRole: {route.needs.words()}.".strip(),
        "parameters": [*_path_parameters(route.path), *_query_parameters(route)],
        "responses": _responses(route),
    }
    schema = body_schema(route)
    if schema is not None:
        told["requestBody"] = {"required": bool(schema.get("required")), "content": _json(schema)}
    return told


def operation_id(route: Route) -> str:
    """Such as `post_groups_name_drain`."""
    return "_".join([route.method.lower(), *re.findall(r"\w+", route.path)])


def body_schema(route: Route) -> Mapping[str, Any] | None:
    """What the route reads as a body, if it reads one."""
    return route.raw_body if route.raw_body is not None else (route.body and route.body.schema())


def statuses(route: Route) -> dict[str, str]:
    """Every status that is no success, and when it is answered."""
    told = dict(_ALWAYS)
    reads_body = body_schema(route) is not None
    told |= {"413": f"The body is larger than {size(route.limit_bytes)}."} | _WITH_BODY if reads_body else {}
    told |= {"422": route.refuses} if route.refuses else {}
    told |= {"404": "There is no such thing."} if "{" in route.path else {}
    told |= {"409": "Someone else changed it first."} if route.body and "version" in route.body else {}
    return dict(sorted(told.items()))


def _responses(route: Route) -> dict[str, Any]:
    good = {str(route.status): {"description": "Done.", "content": _json(route.answer.schema())}}
    problem = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return good | {status: {"description": when, "content": problem} for status, when in statuses(route).items()}


def _json(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _path_parameters(path: str) -> Iterable[dict[str, Any]]:
    for name in _PARAMETER.findall(path):
        kind = "integer" if name == "id" else "string"
        yield {"name": name, "in": "path", "required": True, "schema": {"type": kind}}


def _query_parameters(route: Route) -> Iterable[dict[str, Any]]:
    for field in route.query.values():
        yield {"name": field.name, "in": "query", "description": field.doc, "schema": field.kind.schema()}
