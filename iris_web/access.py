"""All rules of who may do what, in one place: roles, acts, and the check every view begins with."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, cast

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, PermissionsMixin
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.http import urlencode

# Signs what tells the login page that a form was refused: nobody else can make it say so.
UNSENT = "iris_web.access.unsent"
# Answered without a login: what has no data, and what has its own check (the API, metrics). A path that ends in a
# slash stands for everything under it, another one for itself alone.
ANONYMOUS_PATHS = ("/login/", "/theme/", "/static/", "/healthz", "/readyz", "/metrics", "/api/", "/admin/login/")
# What someone without a role may do besides: leave.
_WAYS_OUT = ("/logout/", "/admin/logout/")

_ROLE = "_iris_role"


class Role(StrEnum):
    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


class Act(StrEnum):
    """What a person or token may be allowed to do."""

    VIEW = "view"
    DRAIN = "drain"
    PAUSE = "pause"
    SCALE = "scale"
    ACKNOWLEDGE = "acknowledge"
    CLEAR_MARKER = "clear_marker"
    HALT = "halt"
    SET_LIMITS = "set_limits"
    SET_QUOTA = "set_quota"
    SET_PLATFORM_MODE = "set_platform_mode"
    TEST_CHANNEL = "test_channel"
    MANAGE_CHANNELS = "manage_channels"
    MANAGE_TOKENS = "manage_tokens"
    MANAGE_USERS = "manage_users"


_OPERATOR = frozenset(
    {Act.VIEW, Act.DRAIN, Act.PAUSE, Act.SCALE, Act.ACKNOWLEDGE, Act.CLEAR_MARKER, Act.HALT, Act.TEST_CHANNEL}
)
ALLOWED: dict[Role, frozenset[Act]] = {
    Role.VIEWER: frozenset({Act.VIEW}),
    Role.OPERATOR: _OPERATOR,
    Role.ADMIN: frozenset(Act),
}


def role_of(user: AbstractBaseUser | AnonymousUser) -> Role | None:
    """The role of a signed-in user: superusers are admins, others by their group of that name; none = no access.

    One query for a user object; the answer is kept on it for the request.
    """
    if not user.is_authenticated or not user.is_active:
        return None
    if getattr(user, "is_superuser", False):
        return Role.ADMIN
    if not hasattr(user, _ROLE):
        names = set(cast(PermissionsMixin, user).groups.values_list("name", flat=True))
        found = next((role for role in (Role.ADMIN, Role.OPERATOR, Role.VIEWER) if role in names), None)
        setattr(user, _ROLE, found)
    return cast(Role | None, getattr(user, _ROLE))


def may(role: Role | None, act: Act) -> bool:
    return role is not None and act in ALLOWED[role]


def require(request: HttpRequest, act: Act) -> Role:
    """The first line of every view: the role, or a 403 before anything is read."""
    role = role_of(request.user)
    if role is None or not may(role, act):
        raise PermissionDenied(f"Your role may not do this: {act.replace('_', ' ')}.")
    return role


def is_anonymous_path(path: str) -> bool:
    return any(path.startswith(open_) if open_.endswith("/") else path == open_ for open_ in ANONYMOUS_PATHS)


class RequireLoginMiddleware:
    """Nothing but the login page, health and static files answers without a login; the API has its own check.

    To someone without a role every other address is the same 403, whether something is there or not.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if is_anonymous_path(request.path):
            return self.get_response(request)
        if request.user.is_authenticated:
            if role_of(request.user) is None and request.path not in _WAYS_OUT:
                raise PermissionDenied
            if "\0" in request.path:
                # A text that PostgreSQL cannot even compare: there is nothing of that name.
                raise Http404
            return self.get_response(request)
        asked = {"next": request.get_full_path()}
        if request.method == "POST":
            asked["unsent"] = signing.dumps("", salt=UNSENT)
        return redirect(f"/login/?{urlencode(asked)}")


def template_context(request: HttpRequest) -> dict[str, Any]:
    """`role` and `may` (a mapping act → bool) for templates: what a person may not do is not drawn."""
    user = getattr(request, "user", None)
    role = role_of(user) if user is not None else None
    return {"role": role, "may": {act.value: may(role, act) for act in Act}}
