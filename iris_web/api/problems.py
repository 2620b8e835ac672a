"""How the API says no: `application/problem+json` (RFC 9457) with one sentence and the path of each fault."""

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpResponse, JsonResponse

from iris_web.pages.words import size
from scaling.characters import harmless
from scaling.operations import Fault, InvalidRequest, NotFound, OperationRefused, StaleVersion

logger = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"
# Sent with every 401: how to present a token.
CHALLENGE = 'Bearer realm="iris"'

PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "errors"],
    "properties": {
        "type": {"type": "string", "const": "about:blank"},
        "title": {"type": "string", "description": "The status in words."},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "One sentence naming the place and what was expected."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "message": {"type": "string"}},
            },
        },
        "version": {"type": "integer", "description": "With 409: the version of the thing as it is now."},
    },
}


class Problem(Exception):
    """An answer other than success; `faults` name paths in the request where it has any."""

    def __init__(
        self,
        status: int,
        detail: str,
        faults: Sequence[Fault] = (),
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.faults = status, detail, tuple(faults)
        self.headers, self.extra = dict(headers or {}), dict(extra or {})

    def content(self) -> dict[str, Any]:
        title = HTTPStatus(self.status).phrase
        errors = [{"path": harmless(fault.path), "message": harmless(fault.message)} for fault in self.faults]
        return {"type": "about:blank", "title": title, "status": self.status, "detail": harmless(self.detail)} | {
            "errors": errors,
            **self.extra,
        }

    def response(self) -> HttpResponse:
        return JsonResponse(self.content(), status=self.status, headers=self.headers, content_type=CONTENT_TYPE)


def unauthorized(detail: str, *, presented: bool) -> Problem:
    challenge = f'{CHALLENGE}, error="invalid_token"' if presented else CHALLENGE
    return Problem(401, detail, headers={"WWW-Authenticate": challenge})


def too_large(limit_bytes: int, declared_bytes: int = 0) -> Problem:
    """`declared_bytes`: what the request says it has; 0 where more came than it said, or it said nothing."""
    got = f"{declared_bytes:,}" if declared_bytes > limit_bytes else "more"
    expected = f"expected at most {limit_bytes:,} bytes ({size(limit_bytes)}) here, got {got}"
    return Problem(413, f"the body is too large: {expected}", headers={"Connection": "close"})


def problem_of(error: Exception) -> Problem:
    """The answer for anything a handler raised; what was not foreseen is logged and told without its details."""
    match error:
        case Problem():
            return error
        case InvalidRequest():
            return Problem(400, str(error), error.faults)
        case OperationRefused():
            return Problem(422, str(error), error.faults)
        case StaleVersion():
            return Problem(409, str(error), extra={"version": getattr(error.current, "version", None)})
        case NotFound():
            return Problem(404, str(error))
        case OperationalError() | InterfaceError():
            logger.error("database failed under an API call", exc_info=error)
            return Problem(503, "the database does not answer; try again", headers={"Retry-After": "2"})
        case _:
            logger.error("API call failed", exc_info=error)
            return Problem(500, "Iris failed on this request; its log has the details")
