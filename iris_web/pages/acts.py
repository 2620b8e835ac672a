"""How a page carries out an act: a form that says what it will hit, a confirmation, and what to do when it is refused.

Every act page works without javascript: GET shows it, POST does it. A refusal puts its sentence beside the field; a
newer version or a scope that grew shows the form again with what changed, and nothing is done. A scope that shrank
does not: then the act does less than was agreed to, and in a busy cluster it shrinks all the time.

The planner takes seconds in a large cluster, so the page is shown without asking it; what it answers is loaded into the
page, or shown with it at `?preview=1`. What is sent before that answer came is held to it all the same.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import chain
from typing import Any, TypeVar

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect

from iris_web.access import Act, require
from iris_web.pages import act_previews
from iris_web.pages.act_done import done_text, undo_address
from iris_web.pages.shell import render_page
from iris_web.pages.url_params import parse_span
from scaling import clock
from scaling.history import Actor
from scaling.models import Source
from scaling.operations import NotFound, OperationRefused, StaleVersion
from scaling.previews import NOT_DONE, Change, Preview, asked, looking
from scaling.previews.scopes import more_than_shown

CONFLICT, UNPROCESSABLE = 409, 422
V = TypeVar("V", int, int | None)


class Input(StrEnum):
    TEXT = "text"
    LONG = "long"
    END = "end"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class FormField:
    """One input of an act. An END is a duration out of `spans` or an exact time in UTC; a NAME must be `expected`."""

    name: str
    label: str
    kind: Input = Input.TEXT
    help: str = ""
    required: bool = False
    expected: str = ""
    spans: tuple[tuple[str, str], ...] = ()
    initial: str = ""


REASON = FormField("reason", "Reason", help="Kept in the history, beside your name.")
SPANS = (("15min", "15 minutes"), ("1h", "1 hour"), ("4h", "4 hours"), ("24h", "24 hours"), ("7d", "7 days"))


@dataclass(frozen=True, slots=True)
class ActPage:
    """One act on one thing. `perform(actor, values)` carries it out; `version` is that of the thing as shown.

    `seen` names what the act would hit as shown, `preview` what the next cycle does with its `change`; when either is
    more at the moment of sending, it is shown again. `seen_if` names what is hit only where that field is given. `undo`
    is an address of its own for taking it back; without one the page of its Action offers it. `problem` says why it
    can't be done at all. `instead`: (words, address) of the act that fits where this one was done already.
    `at_once`: it stops something, so that it waits for no answer of the planner and is sent whatever that says.
    `serves`: it takes something back or lets it serve again, so that it asks again only where more would be released
    or ended than was shown; what the planner would buy for demand that came meanwhile stops it not (see `scopes`).
    `stops`: it takes away or stops, so that it is sent without the planner's answer too where that fails.
    """

    act: Act
    title: str
    button: str
    back: str
    done: str
    perform: Callable[[Actor, Mapping[str, Any]], object]
    nav: str
    subject: str = ""
    effects: Sequence[str] = ()
    fields: Sequence[FormField] = (REASON,)
    danger: bool = False
    version: int | None = None
    seen: Sequence[str] = ()
    seen_if: Mapping[str, Sequence[str]] = field(default_factory=dict)
    change: Change | None = None
    preview: Preview | None = None
    template: str = "acts/confirm.html"
    context: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""
    undo: str = ""
    instead: tuple[str, str] | None = None
    at_once: bool = False
    serves: bool = False
    stops: bool = False

    @property
    def scope(self) -> list[str]:
        """All that it would hit, as it is shown."""
        return [*self.seen, *chain(*self.seen_if.values()), *(self.preview.scope if self.preview else ())]

    def planned(self) -> "ActPage":
        """With what the planner says of it now; without, where it gives no answer."""
        return replace(self, preview=asked(self.change)) if self.change else self

    @property
    def lacks_answer(self) -> bool:
        """Whether a cycle plans it, and what the planner says of it is not known."""
        return self.change is not None and self.preview is None

    def hit_with(self, given: Mapping[str, str]) -> set[str]:
        """What it would hit, sent like this."""
        left_out = [names for key, names in self.seen_if.items() if not (given.get(key) or given.get(f"{key}_span"))]
        planned = (self.preview.losses if self.serves else self.preview.scope) if self.preview else ()
        hit = {*self.seen, *chain(*self.seen_if.values()), *planned}
        return hit - set(chain(*left_out))


def actor_of(request: HttpRequest) -> Actor:
    """The person behind a page."""
    return Actor.user(request.user.get_username(), Source.PAGE)


def run(request: HttpRequest, make: Callable[[], ActPage], act: Act) -> HttpResponse:
    """Show the act, or do it. `make` is called after the role was checked, and again for what changed meanwhile."""
    require(request, act)
    try:
        page = make()
        if request.method == "POST":
            return _send(request, page if page.at_once else page.planned(), make)
        wanted = request.GET.get("preview", "")
        if not wanted:
            return _show(request, page, {})
        with looking():
            page = page.planned()
        if page.lacks_answer:
            return _show(request, page, {}, notice=NOT_DONE, status=act_previews.UNAVAILABLE)
        return act_previews.part(request, page.preview) if wanted == act_previews.PART else _show(request, page, {})
    except NotFound as missing:
        raise Http404(str(missing)) from None


def _send(request: HttpRequest, page: ActPage, make: Callable[[], ActPage]) -> HttpResponse:
    given = act_previews.sent(request)
    values, wrong = read_fields(page.fields, given)
    newer = _more_than_seen(page, given)
    if newer:
        return _show(request, page, given, wrong=wrong, notice=newer, status=CONFLICT)
    if wrong:
        return _show(request, page, given, wrong=wrong, status=UNPROCESSABLE)
    if page.lacks_answer and not (page.stops or page.at_once):
        return _show(request, page, given, notice=NOT_DONE, status=act_previews.UNAVAILABLE)
    values["version"] = shown_version(given, page.version)
    actor, began = actor_of(request), clock.now()
    try:
        page.perform(actor, values)
    except StaleVersion as stale:
        notice = f"{sentence(str(stale))} Nothing was done; this is how it is now."
        return _show(request, replace(make(), preview=page.preview), given, notice=notice, status=CONFLICT)
    except OperationRefused as refused:
        page = replace(make(), preview=page.preview)
        return _show(request, page, given, wrong=faults_of(refused, page.fields), status=UNPROCESSABLE)
    messages.success(request, done_text(page.done, page.undo or undo_address(actor, began)))
    return HttpResponseRedirect(page.back)


def faults_of(refused: OperationRefused, fields: Iterable[FormField]) -> dict[str, str]:
    """The sentences of a refusal by field; those of no field of the form stand over it, under ""."""
    names = {field.name for field in fields}
    found: dict[str, str] = {}
    for fault in refused.faults:
        place = fault.path if fault.path in names else ""
        text = sentence(fault.message if place else str(fault))
        found[place] = f"{found[place]} {text}" if place in found else text
    return found


def read_fields(fields: Iterable[FormField], given: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """(values, sentences on what is wrong by field). Checks only what a form knows; operations check the rest."""
    values: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for item in fields:
        text = given.get(item.name, "")
        values[item.name] = _end(item, given) if item.kind is Input.END else text
        if item.kind is Input.END and text and given.get(f"{item.name}_span"):
            wrong[item.name] = "Choose how long, or until exactly when: expected one of the two, got both."
        elif item.kind is Input.NAME and text != item.expected:
            wrong[item.name] = f"Expected the name {item.expected}, to be sure."
        elif item.required and not values[item.name]:
            wrong[item.name] = f"{item.label}: expected some text, got none."
    return values, wrong


def _end(item: FormField, given: Mapping[str, str]) -> datetime | str | None:
    """An exact time as it was written (operations read it), else now and the chosen span, else nothing."""
    exact = given.get(item.name, "")
    span: timedelta | None = parse_span(given.get(f"{item.name}_span", ""))
    return exact or (clock.now() + span if span else None)


def _more_than_seen(page: ActPage, given: Mapping[str, str]) -> str:
    if "seen" not in given:
        return ""
    newer = more_than_shown(page.hit_with(given), given["seen"].split())
    return f"It would now hit more than you were shown: {newer}. Nothing was done; look again." if newer else ""


def shown_version(given: Mapping[str, str], present: V) -> int | V:
    """The version that a form was shown with; the present one where it does not say."""
    text = given.get("version", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else present


def sentence(text: str) -> str:
    """As people write it: a capital first, a stop at the end."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def _show(
    request: HttpRequest,
    page: ActPage,
    given: Mapping[str, str],
    *,
    wrong: Mapping[str, str] | None = None,
    notice: str = "",
    status: int = 200,
) -> HttpResponse:
    wrong = wrong or {}
    shown = [
        {
            "field": item,
            "value": given.get(item.name, item.initial),
            "span": given.get(f"{item.name}_span", ""),
            "wrong": wrong.get(item.name, ""),
            "described_by": _described_by(item, item.name in wrong),
        }
        for item in page.fields
    ]
    context = {
        **page.context,
        "page": page,
        "fields": shown,
        "given": given,
        "wrong": wrong,
        "problem": wrong.get("", "") or page.problem,
        "waits": page.lacks_answer,
        "preview": page.preview,
        "notice": notice,
        "seen": " ".join(page.scope),
        "now": clock.now(),
    }
    return render_page(request, page.template, context, nav=page.nav, status=status)


def _described_by(item: FormField, is_wrong: bool) -> str:
    """The ids of what explains a field, for `aria-describedby`."""
    ids = ([f"help_{item.name}"] if item.help else []) + ([f"wrong_{item.name}"] if is_wrong else [])
    return " ".join(ids)
