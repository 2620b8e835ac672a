"""`/actions/export.csv` and `/actions/export.json`: the filtered history as a file, however long it is.

The file is sent while it is read, a few rows at a time, newest first. Each portion is read in a thread, so the process
answers other pages meanwhile; what is written after the export began is not in it.
"""

import csv
import io
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from iris_web.access import Act, require
from iris_web.pages import action_filters
from scaling import clock
from scaling.audit import matching
from scaling.audit.canonical import time_text
from scaling.audit.matching import Wanted
from scaling.models import Action

PORTION_ROWS = 500
NO_FILE = "No file was made, for it would not be the set that was asked for. Mend the address and ask again."
COLUMNS = (
    "id", "at", "kind", "actor_kind", "actor", "source", "group", "slice", "job", "target", "reason", "outcome",
    "cause", "cycle", "before", "after",
)  # fmt: skip
# A spreadsheet takes a cell that begins like this for a formula, which may run programs; an apostrophe makes it a text.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file: what it begins with, a portion of rows (told whether it is the first), what it ends with."""

    content_type: str
    head: str
    rows: Callable[[Sequence[Action], bool], str]
    tail: str = ""


def view(request: HttpRequest, form: str) -> HttpResponseBase:
    require(request, Act.VIEW)
    state = action_filters.read(request.GET)
    if state.problems:
        # A file cannot say what it leaves out, as the page does; nobody should take it for the set they asked for.
        told = "\n".join([*state.problems.values(), NO_FILE])
        return HttpResponse(f"{told}\n", status=400, content_type="text/plain; charset=utf-8")
    chosen = FORMATS[form]
    portions = _portions(chosen, action_filters.wanted(state))
    answer = StreamingHttpResponse(
        _in_threads(portions) if isinstance(request, ASGIRequest) else portions, content_type=chosen.content_type
    )
    name = f"iris-actions-{clock.now():%Y%m%dT%H%M%SZ}.{form}"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    answer["Cache-Control"] = "no-store"
    return answer


async def _in_threads(portions: Iterator[str]) -> AsyncIterator[str]:
    """The same portions, each made in a thread."""
    following = sync_to_async(lambda: next(portions, None))
    while (portion := await following()) is not None:
        yield portion


def _portions(form: Format, wanted: Wanted) -> Iterator[str]:
    yield form.head
    first, after = True, None
    while True:
        found = matching.page(wanted, PORTION_ROWS, after)
        if found.ids:
            yield form.rows(matching.rows(found.ids), first)
        if not found.older:
            break
        first, after = False, found.ids[-1]
    yield form.tail


def as_record(action: Action) -> dict[str, Any]:
    """An action by the names of `COLUMNS`; times as ISO 8601 in UTC."""
    named = {"at": time_text(action.at), "cause": action.cause_id}
    return {name: named[name] if name in named else getattr(action, name) for name in COLUMNS}


def _csv(rows: Sequence[Action], _first: bool) -> str:
    written = io.StringIO()
    csv.writer(written).writerows([_cell(value) for value in as_record(row).values()] for row in rows)
    return written.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if isinstance(value, str) and text.startswith(_FORMULA) else text


def _json(rows: Sequence[Action], first: bool) -> str:
    return ("" if first else ",\n") + ",\n".join(json.dumps(as_record(row), ensure_ascii=False) for row in rows)


FORMATS = {
    # With a byte order mark, without which spreadsheets do not take it for UTF-8.
    "csv": Format("text/csv; charset=utf-8", "\ufeff" + ",".join(COLUMNS) + "\r\n", _csv, ""),
    "json": Format("application/json", "[\n", _json, "\n]\n"),
}
