"""Who may do what: the one table that every address, socket and call of the site is held to.

Written out by hand, never computed from the code: an address that is missing here fails the matrix with its name.
"""

from dataclasses import dataclass
from enum import StrEnum


class Person(StrEnum):
    """Whoever may come with a browser. An outsider has signed in and has no role."""

    ANONYMOUS = "anonymous"
    OUTSIDER = "outsider"
    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


class Token(StrEnum):
    """Whoever may come with a bearer token."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"
    SCHEDULER = "scheduler"
    WORKER = "worker"
    EXPIRED = "expired"
    REVOKED = "revoked"
    GARBAGE = "garbage"


ANYONE = frozenset(Person)
VIEWERS = frozenset({Person.VIEWER, Person.OPERATOR, Person.ADMIN})
OPERATORS = frozenset({Person.OPERATOR, Person.ADMIN})
ADMINS = frozenset({Person.ADMIN})
NOBODY = frozenset[Person]()

# Tokens whose secret is no (longer a) token: 401 everywhere.
UNPROVED = frozenset({Token.EXPIRED, Token.REVOKED, Token.GARBAGE})


@dataclass(frozen=True, slots=True)
class Page:
    """An address of one URL pattern. `may`: who is answered, with `get`; all others get 403, or the login page.

    `write`: who may send something there, where that is not the same. `{group}` and so on stand for rows that exist.
    """

    address: str
    may: frozenset[Person]
    get: int = 200
    write: frozenset[Person] | None = None

    def people(self, method: str) -> frozenset[Person]:
        return self.may if method == "get" or self.write is None else self.write


# URL pattern → what is expected there.
PAGES: dict[str, Page] = {
    # Open to all: without data, or with a check of its own.
    "login/": Page("/login/", ANYONE),
    "login/provider/": Page("/login/provider/", ANYONE, 404),
    "login/provider/callback/": Page("/login/provider/callback/", ANYONE, 404),
    "theme/": Page("/theme/", ANYONE, 405),
    "healthz": Page("/healthz", ANYONE),
    "readyz": Page("/readyz", ANYONE, 503),
    # To other machines, whoever signed in there; tokens that may view are in METRICS.
    "metrics": Page("/metrics", ANYONE, 403),
    "admin/login/": Page("/admin/login/", ANYONE, 302),
    "logout/": Page("/logout/", ANYONE - {Person.ANONYMOUS}, 405),
    "admin/logout/": Page("/admin/logout/", ANYONE - {Person.ANONYMOUS}, 405),
    # Reading.
    "": Page("/", VIEWERS),
    "groups/": Page("/groups/", VIEWERS),
    "groups/<path:name>/": Page("/groups/{group}/", VIEWERS),
    "slices/<str:name>/": Page("/slices/{slice}/", VIEWERS),
    "deployments/": Page("/deployments/", VIEWERS),
    "deployments/<path:deployment_id>/": Page("/deployments/{deployment}/", VIEWERS),
    "deployments/<path:deployment_id>/series": Page("/deployments/{deployment}/series", VIEWERS),
    "demand/": Page("/demand/", VIEWERS),
    "demand/<path:job>/": Page("/demand/{job}/", VIEWERS),
    "stockouts/": Page("/stockouts/", VIEWERS),
    "actions/": Page("/actions/", VIEWERS),
    "actions/export.csv": Page("/actions/export.csv", VIEWERS),
    "actions/export.json": Page("/actions/export.json", VIEWERS),
    "actions/<int:pk>/": Page("/actions/{action}/", VIEWERS),
    "search/": Page("/search/", VIEWERS),
    "settings/": Page("/settings/", VIEWERS),
    "confirm/": Page("/confirm/", VIEWERS),
    "password/": Page("/password/", VIEWERS),
    # Acting.
    "groups/<path:name>/drain/": Page("/groups/{group}/drain/", OPERATORS),
    "groups/<path:name>/undrain/": Page("/groups/{group}/undrain/", OPERATORS),
    "groups/<path:name>/pause/": Page("/groups/{group}/pause/", OPERATORS),
    "groups/<path:name>/resume/": Page("/groups/{group}/resume/", OPERATORS),
    "slices/<str:name>/drain/": Page("/slices/{slice}/drain/", OPERATORS),
    "slices/<str:name>/undrain/": Page("/slices/{slice}/undrain/", OPERATORS),
    "stockouts/<int:pk>/acknowledge/": Page("/stockouts/{marker}/acknowledge/", OPERATORS),
    "stockouts/<int:pk>/clear/": Page("/stockouts/{marker}/clear/", OPERATORS),
    "stockouts/<int:pk>/hold/": Page("/stockouts/{marker}/hold/", OPERATORS),
    "deployments/absent/forget/": Page("/deployments/absent/forget/", OPERATORS),
    "deployments/<path:deployment_id>/pause/": Page("/deployments/{deployment}/pause/", OPERATORS),
    "deployments/<path:deployment_id>/resume/": Page("/deployments/{deployment}/resume/", OPERATORS),
    "deployments/<path:deployment_id>/scale/": Page("/deployments/{deployment}/scale/", OPERATORS),
    "deployments/<path:deployment_id>/wake/": Page("/deployments/{deployment}/wake/", OPERATORS),
    "actions/<int:pk>/undo/": Page("/actions/{action}/undo/", OPERATORS),
    "settings/halt/": Page("/settings/halt/", OPERATORS),
    "settings/unhalt/": Page("/settings/unhalt/", OPERATORS),
    "settings/notices/<int:pk>/acknowledge/": Page("/settings/notices/{notice}/acknowledge/", OPERATORS, 302),
    # By a form's button alone; of no channel, since a test is really sent.
    "settings/notices/channels/<int:pk>/test/": Page("/settings/notices/channels/987654/test/", OPERATORS, 405),
    # Changing limits, quotas, targets, platforms.
    "groups/<path:name>/series": Page("/groups/{group}/series", VIEWERS),
    "groups/<path:name>/limits/": Page("/groups/{group}/limits/", ADMINS),
    "deployments/<path:deployment_id>/edit/": Page("/deployments/{deployment}/edit/", ADMINS),
    "settings/platforms/<int:pk>/<str:mode>/": Page("/settings/platforms/{platform}/observe/", ADMINS),
    "pools/<int:pk>/forget/": Page("/pools/{pool}/forget/", ADMINS),
    # The admin.
    "admin/": Page("/admin/", ADMINS),
    "admin/password_change/": Page("/admin/password_change/", ADMINS, 302),
    "admin/password_change/done/": Page("/admin/password_change/done/", ADMINS, 302),
    "admin/autocomplete/": Page("/admin/autocomplete/", NOBODY),
    "admin/jsi18n/": Page("/admin/jsi18n/", ADMINS),
    "admin/r/<path:content_type_id>/<path:object_id>/": Page("/admin/r/1/1/", ADMINS, 404),
    "admin/^(?P<app_label>scaling|auth)/$": Page("/admin/scaling/", ADMINS),
    "admin/(?P<url>.*)$": Page("/admin/nowhere/", ADMINS, 404),
    "admin/scaling/group/": Page("/admin/scaling/group/", ADMINS),
    "admin/scaling/group/add/": Page("/admin/scaling/group/add/", NOBODY),
    "admin/scaling/group/<path:object_id>/": Page("/admin/scaling/group/{group_pk}/", ADMINS, 302),
    "admin/scaling/group/<path:object_id>/change/": Page("/admin/scaling/group/{group_pk}/change/", ADMINS),
    "admin/scaling/group/<path:object_id>/delete/": Page("/admin/scaling/group/{group_pk}/delete/", NOBODY),
    "admin/scaling/group/<path:object_id>/history/": Page("/admin/scaling/group/{group_pk}/history/", ADMINS, 302),
    "admin/scaling/deployment/": Page("/admin/scaling/deployment/", ADMINS),
    "admin/scaling/deployment/add/": Page("/admin/scaling/deployment/add/", NOBODY),
    "admin/scaling/deployment/<path:object_id>/": Page("/admin/scaling/deployment/{deployment_pk}/", ADMINS, 302),
    "admin/scaling/deployment/<path:object_id>/change/": Page(
        "/admin/scaling/deployment/{deployment_pk}/change/", ADMINS
    ),
    "admin/scaling/deployment/<path:object_id>/delete/": Page(
        "/admin/scaling/deployment/{deployment_pk}/delete/", NOBODY
    ),
    "admin/scaling/deployment/<path:object_id>/history/": Page(
        "/admin/scaling/deployment/{deployment_pk}/history/", ADMINS, 302
    ),
    "admin/scaling/quotapool/": Page("/admin/scaling/quotapool/", ADMINS),
    "admin/scaling/quotapool/add/": Page("/admin/scaling/quotapool/add/", NOBODY),
    "admin/scaling/quotapool/<path:object_id>/": Page("/admin/scaling/quotapool/{pool}/", ADMINS, 302),
    "admin/scaling/quotapool/<path:object_id>/change/": Page("/admin/scaling/quotapool/{pool}/change/", ADMINS),
    "admin/scaling/quotapool/<path:object_id>/delete/": Page("/admin/scaling/quotapool/{pool}/delete/", NOBODY),
    "admin/scaling/quotapool/<path:object_id>/history/": Page("/admin/scaling/quotapool/{pool}/history/", ADMINS, 302),
    "admin/scaling/noticechannel/": Page("/admin/scaling/noticechannel/", ADMINS),
    "admin/scaling/noticechannel/add/": Page("/admin/scaling/noticechannel/add/", ADMINS),
    "admin/scaling/noticechannel/<path:object_id>/": Page("/admin/scaling/noticechannel/{channel}/", ADMINS, 302),
    "admin/scaling/noticechannel/<path:object_id>/change/": Page(
        "/admin/scaling/noticechannel/{channel}/change/", ADMINS
    ),
    "admin/scaling/noticechannel/<path:object_id>/delete/": Page(
        "/admin/scaling/noticechannel/{channel}/delete/", NOBODY
    ),
    "admin/scaling/noticechannel/<path:object_id>/history/": Page(
        "/admin/scaling/noticechannel/{channel}/history/", ADMINS, 302
    ),
    "admin/scaling/apitoken/": Page("/admin/scaling/apitoken/", ADMINS),
    "admin/scaling/apitoken/add/": Page("/admin/scaling/apitoken/add/", ADMINS),
    "admin/scaling/apitoken/<path:object_id>/secret/": Page("/admin/scaling/apitoken/{token}/secret/", ADMINS, 302),
    "admin/scaling/apitoken/<path:object_id>/": Page("/admin/scaling/apitoken/{token}/", ADMINS, 302),
    "admin/scaling/apitoken/<path:object_id>/change/": Page(
        "/admin/scaling/apitoken/{token}/change/", ADMINS, write=NOBODY
    ),
    "admin/scaling/apitoken/<path:object_id>/delete/": Page("/admin/scaling/apitoken/{token}/delete/", NOBODY),
    "admin/scaling/apitoken/<path:object_id>/history/": Page("/admin/scaling/apitoken/{token}/history/", ADMINS, 302),
    "admin/auth/user/": Page("/admin/auth/user/", ADMINS),
    "admin/auth/user/add/": Page("/admin/auth/user/add/", ADMINS),
    "admin/auth/user/<path:object_id>/": Page("/admin/auth/user/{user}/", ADMINS, 302),
    "admin/auth/user/<path:object_id>/change/": Page("/admin/auth/user/{user}/change/", ADMINS),
    "admin/auth/user/<path:object_id>/delete/": Page("/admin/auth/user/{user}/delete/", NOBODY),
    "admin/auth/user/<path:object_id>/history/": Page("/admin/auth/user/{user}/history/", ADMINS, 302),
    # The API's description, which holds no data. Its calls are in CALLS.
    "api/v1/openapi.json": Page("/api/v1/openapi.json", ANYONE),
    "api/v1/docs": Page("/api/v1/docs", ANYONE),
}

# Beside the form of an act stands what the planner says of it: a part of the page, or the whole page with it.
PREVIEWED = (
    Page("/groups/{group}/drain/", OPERATORS),
    Page("/groups/{group}/pause/", OPERATORS),
    Page("/stockouts/{marker}/clear/", OPERATORS),
    Page("/stockouts/{marker}/hold/", OPERATORS),
)

# The last pattern of the API: a 404 for everyone, which names nothing but what was asked for.
NO_SUCH_CALL = "api/v1/^(?P.*)"

READ = frozenset({Token.VIEWER, Token.OPERATOR, Token.ADMIN})
ORDER = frozenset({Token.OPERATOR, Token.ADMIN})
ADMIN = frozenset({Token.ADMIN})
JOBS, DEMAND = READ | {Token.SCHEDULER}, frozenset({Token.ADMIN, Token.SCHEDULER})
BEAT = frozenset({Token.ADMIN, Token.WORKER})

# Call of the API → the tokens that are answered. All others get 403, or 401 where they prove nothing.
CALLS: dict[str, frozenset[Token]] = {
    "GET /status": READ,
    "GET /groups": READ,
    "GET /groups/{name}": READ,
    "GET /slices": READ,
    "GET /slices/{name}": READ,
    "GET /workers": READ,
    "GET /markers": READ,
    "GET /markers/{id}": READ,
    "GET /actions": READ,
    "GET /actions/{id}": READ,
    "GET /platforms": READ,
    "GET /pools": READ,
    "GET /deployments": READ,
    "GET /deployments/{deployment}": READ,
    "GET /hints": JOBS,
    "GET /jobs": JOBS,
    "GET /jobs/{job}": JOBS,
    "PUT /jobs/{job}": DEMAND,
    "DELETE /jobs/{job}": DEMAND,
    "PUT /demand/{source}": DEMAND,
    "POST /workers/{name}/heartbeat": BEAT,
    "POST /groups/{name}/drain": ORDER,
    "POST /groups/{name}/undrain": ORDER,
    "POST /groups/{name}/pause": ORDER,
    "POST /groups/{name}/resume": ORDER,
    "POST /slices/{name}/drain": ORDER,
    "POST /slices/{name}/undrain": ORDER,
    "POST /markers/{id}/acknowledge": ORDER,
    "POST /markers/{id}/clear": ORDER,
    "POST /markers/{id}/hold": ORDER,
    "POST /deployments/{deployment}/pause": ORDER,
    "POST /deployments/{deployment}/resume": ORDER,
    "POST /deployments/{deployment}/scale": ORDER,
    "POST /deployments/{deployment}/wake": ORDER,
    "POST /deployments/absent/forget": ORDER,
    "POST /halt": ORDER,
    "POST /unhalt": ORDER,
    "POST /deployments/{deployment}/settings": ADMIN,
    "PATCH /deployments/{deployment}/settings": ADMIN,
    "POST /groups/{name}/limits": ADMIN,
    "PATCH /groups/{name}/limits": ADMIN,
    "POST /pools/{name}/limits": ADMIN,
    "PATCH /pools/{name}/limits": ADMIN,
    "POST /pools/{name}/forget_learned_limit": ADMIN,
    "POST /platforms/{name}/mode": ADMIN,
    "GET /tokens": ADMIN,
    "POST /tokens": ADMIN,
    "POST /tokens/{name}/revoke": ADMIN,
}

# `/metrics` has readers of its own: tokens that may view.
METRICS = READ

# Who may open the live socket: by the session of a browser alone, never by a token.
SOCKETS = VIEWERS

# Topic of the feed (what stands before its colon) → who is sent its events.
TOPICS: dict[str, frozenset[Person]] = dict.fromkeys(
    (
        "action", "actions", "cycle", "deployment", "deployments", "group", "groups", "job", "jobs", "loops", "markers",
        "notices", "overview", "platforms", "slice", "slices", "sources",
    ),
    VIEWERS,
)  # fmt: skip

# Page whose live fragments begin with its name → who is sent them.
FRAGMENTS: dict[str, frozenset[Person]] = dict.fromkeys(
    (
        "action", "actions", "demand", "deployment", "deployments", "group", "groups", "job", "overview", "settings",
        "shell", "slice", "stockouts",
    ),
    VIEWERS,
)  # fmt: skip
