"""Django's admin, open to the role admin alone."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar, cast

from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase

from iris_web.access import Role, role_of

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


class IrisAdminSite(AdminSite):
    """The stock site; who may enter is decided by `iris_web.access`, as everywhere."""

    site_header = "Iris admin"
    site_title = "Iris admin"
    index_title = "Limits, quotas, tokens and people"
    enable_nav_sidebar = False

    def has_permission(self, request: HttpRequest) -> bool:
        return role_of(request.user) is Role.ADMIN

    def admin_view(self, view: View, cacheable: bool = False) -> View:
        """Someone signed in with another role gets a plain refusal: a login page would not help them."""
        inner = super().admin_view(view, cacheable)

        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.user.is_authenticated and not self.has_permission(request):
                raise PermissionDenied("The admin is for the role admin.")
            return inner(request, *args, **kwargs)

        return cast(View, update_wrapper(checked, view))
