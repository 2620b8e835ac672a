"""What a route of the API is. `table.py` lists them all; dispatching and the OpenAPI document read the same list."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from iris_web.api.callers import Caller, Need
from iris_web.api.resources import Shape
from scaling.operations.fields import FieldTable

MIB = 1024 * 1024
# The largest body of an address that says nothing else: acts are small.
USUAL_BYTES = 64 * 1024
NOTHING = FieldTable([])


@dataclass(frozen=True, slots=True)
class Call:
    """One checked request: who asks, the names in the path, the query and the body as read by the route's tables."""

    caller: Caller
    path: Mapping[str, str]
    query: Mapping[str, Any]
    body: Any


@dataclass(frozen=True, slots=True)
class Answer:
    """What a handler answers with; `content` None is an answer without a body."""

    content: Any
    status: int = 200


Handler = Callable[[Call], Answer]


@dataclass(frozen=True, slots=True)
class Route:
    """One method on one address.

    `path` as in OpenAPI (`/groups/{name}/drain`). `body`: its fields; None = a body is not read; `raw_body`: a JSON
    Schema for a body that the handler reads itself. `refuses`: when it answers 422, where it reads no body.
    """

    method: str
    path: str
    summary: str
    handler: Handler
    needs: Need
    answer: Shape
    tag: str
    description: str = ""
    query: FieldTable = field(default_factory=lambda: NOTHING)
    body: FieldTable | None = None
    raw_body: Mapping[str, Any] | None = None
    status: int = 200
    limit_bytes: int = USUAL_BYTES
    refuses: str = ""
