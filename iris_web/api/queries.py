"""Reads query parameters by a table of fields, with the same sentences as bodies."""

from collections.abc import Callable, Mapping
from typing import Any

from django.http import QueryDict

from scaling.operations import Fault, InvalidRequest
from scaling.operations.fields import FieldTable

_FLAGS = {"true": True, "1": True, "false": False, "0": False}


def _number(text: str) -> Any:
    try:
        return int(text) if len(text) < 20 else float(text)
    except ValueError:
        return text


_FROM_TEXT: Mapping[str, Callable[[str], Any]] = {
    "integer": _number,
    "number": _number,
    "boolean": lambda text: _FLAGS.get(text.lower(), text),
}


def read_query(query: QueryDict, table: FieldTable) -> dict[str, Any]:
    """The parameters as read; raises InvalidRequest for an unknown, repeated or unreadable one."""
    twice = [name for name in query if len(query.getlist(name)) > 1]
    if twice:
        raise InvalidRequest.of([Fault(name, "expected once, got more") for name in twice])
    return table.read({name: _typed(name, query[name], table) for name in query})


def _typed(name: str, text: Any, table: FieldTable) -> Any:
    """The text as the JSON value that the field's kind reads."""
    kind = table[name].kind.schema().get("type", "") if name in table else ""
    return _FROM_TEXT.get(kind if isinstance(kind, str) else kind[0], str)(text)
