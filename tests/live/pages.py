"""Fragments and a page that exist for tests only: a clock of groups, a list of actions, one that fails on request."""

import threading
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from iris_web.access import Act, Role
from iris_web.live.fragments import Fragment, ListFragment, Params, Row, register
from scaling import clock
from scaling.feed import FeedEvent
from scaling.models import Event


class Counts:
    """What the fragments below did, over all threads, and what they shall do."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.rendered: Counter[str] = Counter()
        self.fail = threading.Event()
        self.gone = threading.Event()
        self.seconds = 0.0


COUNTS = Counts()


def group_context(params: Params, role: Role) -> dict[str, object]:
    COUNTS.rendered[f"group {params['name']} {role}"] += 1
    if COUNTS.fail.is_set():
        raise RuntimeError("cannot be rendered")
    if COUNTS.gone.is_set():
        raise Http404
    events = Event.objects.filter(topic=f"group:{params['name']}")
    return {"name": params["name"], "count": events.count(), "last": events.last()}


def list_context(params: Params, role: Role) -> dict[str, object]:
    COUNTS.rendered["list whole"] += 1
    rows = Event.objects.filter(topic="rows", kind=params.get("kind", "row")).order_by("-id")[:20]
    return {"rows": rows}


def list_rows(params: Params, role: Role, events: Sequence[FeedEvent]) -> list[Row]:
    COUNTS.rendered["list rows"] += 1
    if COUNTS.fail.is_set():
        raise RuntimeError("cannot be rendered")
    wanted = params.get("kind", "row")
    return [
        Row(f"row-{event.position.id}", {"row": {"id": event.position.id, "payload": event.payload}})
        for event in events
        if event.kind == wanted
    ]


def desk_context(params: Params, role: Role) -> dict[str, object]:
    """Everything a person may be busy with, and how many events there were: each update changes every part."""
    count = Event.objects.filter(topic="desk").count()
    order = ["a", "b", "c"] if count % 2 == 0 else ["c", "b", "a"]
    return {"count": count, "order": order, "now": clock.now(), "later": clock.now() + timedelta(seconds=90)}


def page(request: HttpRequest) -> HttpResponse:
    return render(request, "tests/page.html")


def submit(request: HttpRequest) -> HttpResponse:
    return HttpResponse(f'<link rel="icon" href="data:,">thanks for {request.POST["note"]}')


register(
    Fragment("test.desk", "tests/desk.html", desk_context, {"desk"}),
    Fragment("test.table", "tests/rows.html", list_context, {"table"}, frozenset({"kind"})),
    Fragment(
        "test.group", "tests/group.html", group_context, lambda params: {f"group:{params['name']}"}, frozenset({"name"})
    ),
    Fragment("test.secret", "tests/group.html", lambda _p, _r: {}, {"platforms"}, act=Act.MANAGE_USERS),
    ListFragment(
        "test.rows",
        "tests/rows.html",
        list_context,
        {"rows"},
        frozenset({"kind"}),
        row_template="tests/row.html",
        rows=list_rows,
    ),
)
