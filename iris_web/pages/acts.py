"""How a page carries out an act: a form that says what it will hit, a confirmation, and what to do when it is refused.

Every act page works without javascript: GET shows it, POST does it. A refusal puts its sentence beside the field; a
newer version or a scope that grew shows the form again with what changed, and nothing is done. A scope that shrank
does not: then the act does less than was agreed to, and in a busy cluster it shrinks all the time.

The planner takes seconds in a large cluster, so the page is shown without asking it; what it answers is loaded into the
page, or shown with it at `?preview=1`. What is sent before that answer came is held to it all the same.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect

from iris_web.access import Act, require
from iris_web.pages import act_previews
from iris_web.pages.act_done import done_text, undo_address
from iris_web.pages.act_fields import REASON, FormField, faults_of, inputs, read_fields, sentence, shown_version
from iris_web.pages.shell import render_page
from scaling import clock
from scaling.history import Actor
from scaling.models import Source
from scaling.operations import NotFound, OperationRefused, StaleVersion
from scaling.previews import NOT_DONE, Change, Preview, asked, looking
from scaling.previews.scopes import more_than_shown

CONFLICT, UNPROCESSABLE = 409, 422
_LISTS = {"groups": ("Groups", "/groups/"), "deployments": ("Deployments", "/deployments/")}


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
    def listed(self) -> tuple[str, str] | None:
        """The list that its subject is one of: name and address; None where the way back leads to the list."""
        found = _LISTS.get(self.nav)
        return None if found is None or self.subject == found[0] else found

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


def _more_than_seen(page: ActPage, given: Mapping[str, str]) -> str:
    if "seen" not in given:
        return ""
    newer = more_than_shown(page.hit_with(given), given["seen"].split())
    return f"It would now hit more than you were shown: {newer}. Nothing was done; look again." if newer else ""


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
    context = {
        **page.context,
        "page": page,
        "fields": inputs(page.fields, given, wrong),
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
