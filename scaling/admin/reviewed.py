"""Edits in the admin in two steps: the form, then what would change and what the planner does with it."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.response import TemplateResponse

from scaling.admin.base import NOTHING_CHANGED, M, OperatedAdmin
from scaling.admin.written_forms import KEPT, NOT_SAVED, OVERTAKEN, WrittenForm, caught_up, is_overtaken
from scaling.previews import NO_ANSWER
from scaling.previews.scopes import more_than_shown

CONFLICT, UNPROCESSABLE, UNAVAILABLE = 409, 422, 503
# What a review adds to the form, and what is not carried on from one page to the next.
REVIEWED, SEEN, BACK = "_reviewed", "_seen", "_back"
_OWN = (REVIEWED, SEEN, BACK, OVERTAKEN, KEPT, "csrfmiddlewaretoken", "_save", "_continue")


@dataclass(frozen=True, slots=True)
class Changed:
    """One line of a review."""

    label: str
    before: str
    after: str
    of: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Review:
    """What would change, and what follows from it: `preview` for groups and pools, `tick` for deployments."""

    rows: Sequence[Changed]
    scope: Sequence[str]
    preview: Any = None
    tick: Any = None
    promise: str = "In force from the next cycle."


@dataclass(frozen=True, slots=True)
class AsTyped:
    """The form as it was sent, below what is said of it, by `why` (OVERTAKEN or KEPT): nothing typed is at fault."""

    why: str
    status: int = 200

    def sent_again(self, given: QueryDict) -> QueryDict:
        again = given.copy()
        again[self.why] = NOT_SAVED
        return again


class ReviewedAdmin(OperatedAdmin[M]):
    """An edit is reviewed before it is saved, and reviewed again where it would do more than was shown."""

    @abstractmethod
    def review(self, row: M, form: WrittenForm) -> Review | None:
        """What this edit changes and does; the form is valid and changes something. None: the planner fails."""

    def untouched(self, row: M) -> str:  # noqa: ARG002
        """What else is to be said to who sends the form as it was shown."""
        return ""

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        """Its button says that a review comes before the save."""
        return super().render_change_form(request, {**context, "reviewed": True}, *args, **kwargs)

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Between the form and the save stands the review; whoever was overtaken is told in the form."""
        row = self.get_object(request, object_id) if request.method == "POST" and object_id is not None else None
        answer = self._before_saving(request, row) if row is not None else None
        if isinstance(answer, HttpResponse):
            return answer
        if answer is None:
            return super().changeform_view(request, object_id, form_url, extra_context)
        request.POST = answer.sent_again(request.POST)  # type: ignore[assignment]
        shown = super().changeform_view(request, object_id, form_url, {**(extra_context or {}), "errors": ()})
        shown.status_code = answer.status
        return shown

    def _before_saving(self, request: HttpRequest, row: M) -> HttpResponse | AsTyped | None:
        if not self.has_change_permission(request, row):
            raise PermissionDenied
        form = cast(WrittenForm, self.get_form(request, row, change=True)(request.POST, instance=row))
        if is_overtaken(form, request.POST):
            request.POST = caught_up(form, request.POST)  # type: ignore[assignment]
            return None
        if request.POST.get(BACK):
            messages.info(request, f"You are back in the form. {NOT_SAVED}")
            return AsTyped(OVERTAKEN)
        if not form.is_valid():
            return None
        if not form.changes():
            messages.warning(request, f"{NOTHING_CHANGED} {self.untouched(row)}".strip())
            return AsTyped(KEPT, UNPROCESSABLE)
        review = self.review(row, form)
        if review is None:
            messages.error(request, f"{NO_ANSWER} {NOT_SAVED}")
            return AsTyped(KEPT, UNAVAILABLE)
        newer = more_than_shown(review.scope, request.POST.get(SEEN, "").split())
        if REVIEWED in request.POST and not newer:
            return None
        return self._ask(request, row, review, newer if REVIEWED in request.POST else "")

    def _ask(self, request: HttpRequest, row: M, review: Review, newer: str) -> HttpResponse:
        again = f"It would now do more than you were shown: {newer}. Nothing was saved; look again." if newer else ""
        context = {
            **self.admin_site.each_context(request),
            "title": f"Change {row}?",
            "opts": self.opts,
            "original": row,
            "review": review,
            "preview": review.preview,
            "tick": review.tick,
            "notice": again,
            "given": carried(request.POST.lists()),
            "reason": request.POST.get("reason", ""),
            "seen": " ".join(review.scope),
        }
        return TemplateResponse(request, "admin/review.html", context, status=CONFLICT if newer else 200)


def carried(given: Iterable[tuple[str, Sequence[str]]]) -> list[tuple[str, str]]:
    """What a form sent, as hidden fields for the next page."""
    return [(name, value) for name, values in given if name not in _OWN for value in values]


def rows_of(
    labels: Mapping[str, str],
    stored: Mapping[str, str],
    after: Mapping[str, str],
    of: str = "",
    notes: Mapping[str, str] = MappingProxyType({}),
) -> list[Changed]:
    """Every field that is written differently, before and after, with what is certain to follow from it."""
    return [
        Changed(labels.get(name, name), stored[name] or "none", text or "none", of, notes.get(name, ""))
        for name, text in after.items()
        if text != stored[name]
    ]
