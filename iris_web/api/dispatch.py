"""From a request to an answer: method, caller, role, query, body, handler; every failure becomes a problem."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse

from iris_web.api.bodies import read_json
from iris_web.api.callers import authenticate
from iris_web.api.problems import Problem, problem_of
from iris_web.api.queries import read_query
from iris_web.api.routes import Answer, Call, Route
from scaling.operations.fields import nearest


class Endpoint:
    """The view of one address. Only bearer tokens count here, so there is no session to protect from forged forms."""

    csrf_exempt = True

    def __init__(self, routes: Mapping[str, Route]) -> None:
        self._routes = routes

    def __call__(self, request: HttpRequest, **path: Any) -> HttpResponse:
        try:
            return _respond(self._answer(request, path))
        except Exception as error:
            return problem_of(error).response()

    def _answer(self, request: HttpRequest, path: Mapping[str, Any]) -> Answer:
        if "\0" in request.path:
            # A text that PostgreSQL cannot even compare: there is nothing of that name.
            raise Problem(404, "expected an address without the character NUL")
        route = self._route(request.method or "")
        caller = authenticate(request)
        route.needs.check(caller)
        query = read_query(request.GET, route.query)
        return route.handler(Call(caller, path, query, _body(request, route)))

    def _route(self, method: str) -> Route:
        route = self._routes.get("GET" if method == "HEAD" else method)
        if route is None:
            allowed = ", ".join(sorted(self._routes))
            raise Problem(405, f"{method} is not possible here; expected {allowed}", headers={"Allow": allowed})
        return route


def _body(request: HttpRequest, route: Route) -> Any:
    """The body as the route reads it; an absent one is an empty object where no field is required."""
    if route.raw_body is not None:
        return read_json(request, route.limit_bytes)
    if route.body is None:
        return None
    return route.body.read(read_json(request, route.limit_bytes, absent={}))


def _respond(answer: Answer) -> HttpResponse:
    headers = {"Cache-Control": "no-store"}
    if answer.content is None:
        return HttpResponse(status=answer.status, headers=headers)
    return JsonResponse(answer.content, status=answer.status, headers=headers, safe=False)


class NoSuchAddress:
    """The answer below /api/v1/ for an address that is none; `known` are the first words of those that there are."""

    csrf_exempt = True

    def __init__(self, known: Iterable[str]) -> None:
        self._known = sorted(set(known))

    def __call__(self, request: HttpRequest, rest: str) -> HttpResponse:
        first = rest.strip("/").partition("/")[0]
        near = nearest(first, () if first in self._known else self._known)
        docs = "/api/v1/docs lists every address"
        detail = f"there is nothing at {request.path[:200]}{near or ';'} {docs}"
        return Problem(404, detail).response()
