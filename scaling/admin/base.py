"""What all admins share: one gate, saves by operations, the history of actions in place of Django's own log."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.text import capfirst

from scaling.admin import chosen
from scaling.counting import counted
from scaling.history import Actor
from scaling.models import Source
from scaling.operations import OperationError

M = TypeVar("M", bound=Model)

# So many rows one act takes: each is a transaction of some milliseconds, and the person waits for all of them. Saved as
# one, they keep every other writer waiting as long, so those are fewer.
MOST_ROWS, MOST_TOGETHER = 1000, 500
# Said to who sends a form as it was shown; the pages of limits say the same.
NOTHING_CHANGED = "Nothing was changed yet."
# So much a page says of an act on many rows.
MOST_NAMES, MOST_REFUSALS = 50, 20

# Generic for the type checker alone: Django's own classes take no parameters when they run.
if TYPE_CHECKING:
    RowForm = forms.ModelForm[Any]

    class RowAdmin(admin.ModelAdmin[M]): ...

else:
    RowForm = forms.ModelForm

    class RowAdmin(admin.ModelAdmin, Generic[M]): ...


def actor_of(request: HttpRequest) -> Actor:
    return Actor.user(request.user.get_username(), Source.ADMIN)


class OperatedAdmin(RowAdmin[M]):
    """No deletes, no additions, no log of its own. Who may enter is the site's to say.

    `together`: the acts on several rows that are saved as one.
    """

    together: tuple[str, ...] = ()

    def _entered(self, request: HttpRequest) -> bool:
        return self.admin_site.has_permission(request)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._entered(request)

    def has_view_permission(self, request: HttpRequest, obj: M | None = None) -> bool:  # noqa: ARG002
        return self._entered(request)

    def has_change_permission(self, request: HttpRequest, obj: M | None = None) -> bool:  # noqa: ARG002
        return self._entered(request)

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: M | None = None) -> bool:  # noqa: ARG002
        return False

    def log_addition(self, *_args: Any) -> Any:
        return None

    def log_change(self, *_args: Any) -> Any:
        return None

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        chosen.unfold(request)
        title = capfirst(str(self.opts.verbose_name_plural))
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        """Called what the thing is called."""
        kind, row = str(self.opts.verbose_name), context.get("original")
        title = f"{capfirst(kind)} {row}" if row else f"New {kind}"
        return super().render_change_form(request, {**context, "title": title, "subtitle": None}, *args, **kwargs)

    # The stubs know a parameter of a later Django.
    def response_action(self, request: HttpRequest, queryset: QuerySet[M]) -> HttpResponse | None:  # type: ignore[override]
        """Of more rows than one act takes, none is touched."""
        is_across = request.POST.get("select_across", "0") not in ("", "0")
        number = queryset.count() if is_across else len(request.POST.getlist(ACTION_CHECKBOX_NAME))
        most = MOST_TOGETHER if set(self.together) & set(request.POST.getlist("action")) else MOST_ROWS
        if number <= most:
            return super().response_action(request, queryset)
        what = str(self.opts.verbose_name_plural)
        messages.error(
            request,
            f"Nothing was done: {number:,} {what} are chosen, and this act takes at most {most:,} at once. Narrow the "
            "list with its filters or its search, and do it part by part.",
        )
        return HttpResponseRedirect(request.get_full_path())

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Someone may change the row between the form's check and the save: then it is shown again."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except OperationError as refused:
            messages.error(request, f"Nothing was saved: {refused}")
            return HttpResponseRedirect(request.get_full_path())

    def run_on_each(
        self, request: HttpRequest, rows: Any, act: Callable[[Actor, M], object], done: str
    ) -> HttpResponse:
        """Carry out an act on each row and say what became of each; one refusal does not stop the rest."""
        finished: list[str] = []
        refusals: list[str] = []
        for row in rows:
            try:
                act(actor_of(request), row)
                finished.append(str(row))
            except OperationError as refused:
                refusals.append(f"Not done for {row}: {refused}")
        for words in refusals[:MOST_REFUSALS]:
            messages.warning(request, words)
        if len(refusals) > MOST_REFUSALS:
            messages.warning(
                request, f"Not done for {counted(len(refusals) - MOST_REFUSALS, 'other')}, for like reasons."
            )
        if finished:
            messages.success(request, f"{done}: {named(finished)}.")
        return HttpResponseRedirect(reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"))


def named(names: Sequence[str]) -> str:
    """The names in words; of many the first ones, and how many others."""
    others = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {counted(others, 'other')}" if others > 0 else "")
