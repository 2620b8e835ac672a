"""Lists in pages by key: each page begins after the last key of the one before, however many rows there are."""

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, Q, QuerySet

from iris_web.api.callers import Caller
from iris_web.api.resources import Page, Resource
from iris_web.api.routes import Answer, Call
from scaling.operations import InvalidRequest
from scaling.operations.fields import Field, FieldTable
from scaling.operations.inputs import Kind, Text, Whole

DEFAULT_LIMIT, MAX_LIMIT = 100, 500
_ID = Whole(0, 2**63 - 1)
PAGE_FIELDS = (
    Field("cursor", Text(400), "`next` of the page before."),
    Field("limit", Whole(1, MAX_LIMIT), f"Items on a page, {DEFAULT_LIMIT} unless told."),
)


@dataclass(frozen=True, slots=True)
class Filter:
    """A query parameter and what it selects: a lookup (`group__name`) or a function of the value."""

    name: str
    kind: Kind
    where: str | Callable[[Any], Q]
    doc: str = ""

    def condition(self, value: Any) -> Q:
        return self.where(value) if callable(self.where) else Q(**{self.where: value})


@dataclass(frozen=True, slots=True)
class Listing:
    """One list of the API. `key` is a unique column; `newest_first` reverses it. `own` narrows for a scoped token."""

    model: type[Model]
    resource: Resource
    filters: Sequence[Filter] = ()
    key: str = "name"
    newest_first: bool = False
    own: Callable[[Caller], Q] | None = None

    def fields(self) -> FieldTable:
        return FieldTable([*(Field(f.name, f.kind, f.doc) for f in self.filters), *PAGE_FIELDS])

    def shape(self) -> Page:
        return Page(self.resource)

    def __call__(self, call: Call) -> Answer:
        """One page, the rows after the cursor."""
        limit = call.query.get("limit", DEFAULT_LIMIT)
        rows = list(self._rows(call)[: limit + 1])
        more = len(rows) > limit
        following = encode(getattr(rows[limit - 1], self.key)) if more else None
        return Answer({"items": [self.resource.render(row) for row in rows[:limit]], "next": following})

    def _rows(self, call: Call) -> QuerySet[Any]:
        rows = self.model._default_manager.select_related(*self.resource.related)
        if self.own is not None:
            rows = rows.filter(self.own(call.caller))
        for chosen in self.filters:
            if chosen.name in call.query:
                rows = rows.filter(chosen.condition(call.query[chosen.name]))
        if call.query.get("cursor"):
            after = "lt" if self.newest_first else "gt"
            rows = rows.filter(**{f"{self.key}__{after}": self._decode(call.query["cursor"])})
        return rows.order_by(f"-{self.key}" if self.newest_first else self.key)

    def _decode(self, cursor: str) -> Any:
        return _read_cursor(cursor, Text(300) if self.key in ("name", "deployment_id") else _ID)


def _read_cursor(cursor: str, kind: Kind) -> Any:
    try:
        key = kind.read(json.loads(base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)))
    except (ValueError, RecursionError):
        key = None
    if key is None or encode(key) != cursor:
        raise InvalidRequest("expected the `next` of an earlier page", "cursor")
    return key


def decode_id(cursor: str) -> int:
    """The id after which a page begins; raises InvalidRequest."""
    return int(_read_cursor(cursor, _ID))


def encode(key: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode()
