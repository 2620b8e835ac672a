"""Reads query parameters by a table of fields, with the same sentences as bodies."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from django.http import QueryDict

from iris_web import parameter_names
from scaling.operations import Fault, InvalidRequest
from scaling.operations.fields import MAX_FAULTS, FieldTable, nearest
from scaling.operations.inputs import Moment, written_time

# As JSON writes them, so that a query means what the same letters mean in a body.
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_FLAGS = {"true": True, "false": False}


def _number(text: str) -> Any:
    if not _NUMBER.fullmatch(text):
        return text
    return int(text) if len(text) < 20 and text.lstrip("-").isdigit() else float(text)


_FROM_TEXT: Mapping[str, Callable[[str], Any]] = {
    "integer": _number,
    "number": _number,
    "boolean": lambda text: _FLAGS.get(text, text),
}


def read_query(query: QueryDict, table: FieldTable) -> dict[str, Any]:
    """The parameters as read; raises InvalidRequest for an unknown, repeated or unreadable one."""
    known = [name for name in query if name in table]
    faults = [Fault(name[:120], _unknown(name, table)) for name in query if name not in table]
    faults += [Fault(name, "expected once, got more") for name in known if len(query.getlist(name)) > 1]
    read, wrong = table.try_read({name: _typed(name, str(query[name]), table) for name in known})
    if faults or wrong:
        raise InvalidRequest.of([*faults, *wrong][:MAX_FAULTS])
    return read


def _unknown(name: str, table: FieldTable) -> str:
    """What to write instead: the API's word for a page's, or the nearest name, or all that there are."""
    word = parameter_names.of_api(name, table)
    if word:
        return f'unknown parameter; did you mean "{word}"?'
    others = f"; expected one of {', '.join(table)}" if table else "; none is taken here"
    return f"unknown parameter{nearest(name, table) or others}"


def _typed(name: str, text: str, table: FieldTable) -> Any:
    """The text as the JSON value that the field's kind reads."""
    if isinstance(table[name].kind, Moment):
        return written_time(text)
    kind = table[name].kind.schema().get("type", "")
    return _FROM_TEXT.get(kind if isinstance(kind, str) else kind[0], str)(text)
