"""The API's addresses, made from its table of routes. Included at /api/v1/."""

import re
from itertools import groupby

from django.urls import URLPattern, path, re_path

from iris_web.api import documents
from iris_web.api.dispatch import Endpoint, NoSuchAddress
from iris_web.api.routes import Route
from iris_web.api.table import ROUTES

# Names of groups, pools and jobs may hold slashes (`v5e/us-west4-a`), so they match whatever is left.
_CONVERTERS = {"id": "int", "source": "str"}


def _django_path(route_path: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: f"<{_CONVERTERS.get(found[1], 'path')}:{found[1]}>", route_path[1:])


def _longest_first(route: Route) -> tuple[int, str]:
    """`/groups/{name}/drain` is tried before `/groups/{name}`, which would take it for a name."""
    return -route.path.count("/"), route.path


def _patterns() -> list[URLPattern]:
    ordered = sorted(ROUTES, key=_longest_first)
    return [
        path(_django_path(address), Endpoint({route.method: route for route in routes}))
        for address, routes in groupby(ordered, key=lambda route: route.path)
    ]


urlpatterns = [
    path("openapi.json", documents.openapi, name="api-openapi"),
    path("docs", documents.docs, name="api-docs"),
    *_patterns(),
    re_path(r"^(?P<rest>.*)", NoSuchAddress(route.path.split("/")[1] for route in ROUTES)),
]
