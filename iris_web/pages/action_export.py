"""`/actions/export.csv` and `/actions/export.json`: the filtered history as a file, however long it is.

The file is sent while it is read, a few rows at a time, newest first. Each portion is read in a thread, so the process
answers other pages meanwhile; what is written after the export began is not in it.
"""

import csv
import io
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from iris_web.access import Act, require
from iris_web.pages import action_filters
from scaling import clock
from scaling.audit import matching
from scaling.audit.canonical import time_text
from scaling.audit.matching import Wanted
from scaling.audit.own_costs import OwnCost, own_costs
from scaling.models import Action
from scaling.operations.taking_back import taken_back

PORTION_ROWS = 500
NO_FILE = "No file was made, for it would not be the set that was asked for. Mend the address and ask again."
COLUMNS = (
    "id", "at", "kind", "actor_kind", "actor", "source", "group", "slice", "job", "target", "reason", "outcome",
    "cause", "cycle", "before", "after", "slice_hours", "device_hours", "cost", "currency", "taken_back_by",
)  # fmt: skip
# A spreadsheet takes a cell that begins like this for a formula, which may run programs; an apostrophe makes it a text.
# Some take the full-width signs as well.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# So many decimals have hours and money.
_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file: what it begins with, a portion of rows (told whether it is the first), what it ends with."""

    content_type: str
    head: str
    rows: Callable[[Sequence[Mapping[str, Any]], bool], str]
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
    first, after, now = True, None, clock.now()
    while True:
        found = matching.page(wanted, PORTION_ROWS, after)
        if found.ids:
            yield form.rows(records(matching.rows(found.ids), now), first)
        if not found.older:
            break
        first, after = False, found.ids[-1]
    yield form.tail


def records(actions: Sequence[Action], now: datetime) -> list[dict[str, Any]]:
    """Actions by the names of `COLUMNS`; what is not known is None. At most five statements for all of them.

    Times are ISO 8601 in UTC, costs are those of each act by itself up to now.
    """
    costs, undone_by = own_costs(actions, now), taken_back(actions)
    return [_record(action, costs.get(action.pk), undone_by.get(action.pk)) for action in actions]


def _record(action: Action, cost: OwnCost | None, undone_by: int | None) -> dict[str, Any]:
    priced = cost is not None and cost.money is not None
    made = {
        "at": time_text(action.at),
        "cause": action.cause_id,
        "slice_hours": round(cost.slice_hours, _DECIMALS) if cost else None,
        "device_hours": round(cost.device_hours, _DECIMALS) if cost else None,
        "cost": round(float(cost.money), _DECIMALS) if cost and cost.money is not None else None,
        "currency": settings.IRIS_CURRENCY if priced else None,
        "taken_back_by": undone_by,
    }
    return {name: made[name] if name in made else getattr(action, name) for name in COLUMNS}


def _csv(rows: Sequence[Mapping[str, Any]], _first: bool) -> str:
    written = io.StringIO()
    csv.writer(written).writerows([_cell(value) for value in row.values()] for row in rows)
    return written.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if isinstance(value, str) and text.startswith(_FORMULA) else text


def _json(rows: Sequence[Mapping[str, Any]], first: bool) -> str:
    return ("" if first else ",\n") + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


FORMATS = {
    # With a byte order mark, without which spreadsheets do not take it for UTF-8.
    "csv": Format("text/csv; charset=utf-8", "\ufeff" + ",".join(COLUMNS) + "\r\n", _csv, ""),
    "json": Format("application/json", "[\n", _json, "\n]\n"),
}
