"""Django's admin, open to the role admin alone."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar, cast

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.http import urlencode

from iris_web.access import Role, role_of
from iris_web.login.fresh import is_fresh, may_open_form
from scaling import kept_forms

PARTS = {"auth": "People", "scaling": "Iris"}
PEOPLE_AND_TOKENS = ("/admin/auth/user/", "/admin/scaling/apitoken/")

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


class IrisAdminSite(AdminSite):
    """The stock site; who may enter is decided by `iris_web.access`, as everywhere."""

    site_header = "Iris admin"
    site_title = "Iris admin"
    index_title = "Limits, quotas, tokens and people"
    enable_nav_sidebar = False
    empty_value_display = "none"

    def has_permission(self, request: HttpRequest) -> bool:
        return role_of(request.user) is Role.ADMIN

    def admin_view(self, view: View, cacheable: bool = False) -> View:
        """Someone signed in with another role gets a plain refusal: a login page would not help them."""
        inner = super().admin_view(view, cacheable)

        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.user.is_authenticated and not self.has_permission(request):
                raise PermissionDenied("The admin is for the role admin.")
            if request.user.is_authenticated and asks_who_it_is(request):
                return redirect(f"/confirm/?{urlencode({'next': request.get_full_path()})}")
            return inner(request, *args, **kwargs)

        return cast(View, update_wrapper(checked, view))

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """The parts of the admin by what is in them."""
        apps: list[Any] = super().get_app_list(request, app_label)
        return [{**app, "name": PARTS.get(app["app_label"], app["name"])} for app in apps]

    def app_index(self, request: HttpRequest, app_label: str, extra_context: Any = None) -> TemplateResponse:
        title = {"title": PARTS[app_label]} if app_label in PARTS else {}
        return super().app_index(request, app_label, {**title, **(extra_context or {})})

    def password_change(self, *_: Any, **_more: Any) -> HttpResponse:  # type: ignore[override]
        """Everyone's own password is changed on one page, which tells the history of it."""
        return redirect("/password/")

    def password_change_done(self, *_: Any, **_more: Any) -> HttpResponse:  # type: ignore[override]
        return redirect("/")


def asks_who_it_is(request: HttpRequest) -> bool:
    """Whether a request changes people or tokens, or opens a form that does, by someone who proved it too long ago."""
    is_change = request.method not in ("GET", "HEAD") or request.path.endswith(("/add/", "/change/"))
    is_sent = request.method == "POST"
    if not (is_change and request.path.startswith(PEOPLE_AND_TOKENS)):
        return False
    if is_fresh(request) if is_sent else may_open_form(request):
        return False
    if is_sent:
        then = "the form comes back as you typed it" if kept_forms.keep(request) else "choose again what to do"
        messages.warning(request, f"Nothing was saved yet. Show that it is you; then {then}.")
    return True
