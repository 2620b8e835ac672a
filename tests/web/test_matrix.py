"""Every address with everyone who may come: exactly those of the table are answered, and nothing tells the others."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from iris_web.api.table import ROUTES
from scaling.models import Action
from tests.web.conftest import HUSH, Rows
from tests.web.expectations import CALLS, METRICS, NO_SUCH_CALL, PAGES, PREVIEWED, UNPROVED, Page, Person, Token

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

Come = Callable[..., Client]
WRITES = ("post", "put", "patch", "delete")


def patterns(parts: Iterable[URLPattern | URLResolver] | None = None, before: str = "") -> Iterator[str]:
    """Every URL pattern of the site, in full."""
    for part in get_resolver().url_patterns if parts is None else parts:
        if isinstance(part, URLResolver):
            yield from patterns(part.url_patterns, before + str(part.pattern))
        else:
            yield before + str(part.pattern)


def told(answer: HttpResponse) -> str:
    """The body without what differs from one answer to the next: the form's token, and the address asked for."""
    text = b"".join(answer) if answer.streaming else answer.content
    page = re.sub(r'(name="csrfmiddlewaretoken" value|name="next" value)="[^"]*"', "", text.decode(errors="replace"))
    return re.sub(r"/[a-z]+/[^\s\"<]*", "", page)


def asked(client: Client, method: str, address: str, **headers: str) -> HttpResponse:
    """The answer; whatever a request changed is undone."""
    with transaction.atomic():
        answer: HttpResponse = getattr(client, method)(address, headers=headers)
        transaction.set_rollback(True)
    return answer


def is_answered(page: Page, method: str, answer: HttpResponse) -> bool:
    if method == "get":
        return answer.status_code == page.get or is_signed_in_already(page, answer)
    good = answer.status_code not in (401, 403) and answer.status_code < 500
    return good and (page.get == 302 or not is_login(answer))


def is_signed_in_already(page: Page, answer: HttpResponse) -> bool:
    """The login page sends those on who have signed in."""
    return page.address == "/login/" and answer.status_code == 302 and answer["Location"] == "/"


def is_login(answer: HttpResponse) -> bool:
    return answer.status_code == 302 and answer["Location"].startswith("/login/?next=")


def is_refused(person: Person, answer: HttpResponse) -> bool:
    return is_login(answer) if person is Person.ANONYMOUS else answer.status_code == 403


def test_every_address_has_its_expectation() -> None:
    found = set(patterns())
    api = {f"api/v1/{re.sub(r'[{]([^}]*)[}]', '', route.path[1:])}" for route in ROUTES}
    plain = {pattern: re.sub(r"<[^>]*>", "", pattern) for pattern in found}
    unknown = sorted(
        pattern for pattern in found if pattern not in PAGES and plain[pattern] not in {*api, NO_SUCH_CALL}
    )
    assert unknown == [], "write into tests/web/expectations.py who may do what there"
    assert sorted(set(PAGES) - found) == [], "these addresses are gone"


def test_every_call_has_its_expectation() -> None:
    found = {f"{route.method} {route.path}" for route in ROUTES}
    assert sorted(found - set(CALLS)) == [], "write into tests/web/expectations.py which tokens may call this"
    assert sorted(set(CALLS) - found) == [], "these calls are gone"


@pytest.mark.parametrize("person", Person)
def test_exactly_the_allowed_people_are_answered(person: Person, rows: Rows, come: Come) -> None:
    client, before = come(person), Action.objects.count()
    wrong = [
        f"{method} {pattern}: {fault}"
        for pattern, page in PAGES.items()
        for method in ("get", "post")
        if (fault := fault_of(client, person, page, method, rows))
    ]
    assert wrong == []
    assert Action.objects.count() == before


def fault_of(client: Client, person: Person, page: Page, method: str, rows: Rows) -> str:
    """What is wrong with the answer; "" where it is as the table says."""
    if method == "post" and page.address.endswith("/logout/"):
        return ""
    answer = asked(client, method, page.address.format(**rows.existing))
    if person in page.people(method):
        return "" if is_answered(page, method, answer) else f"answered {answer.status_code} to those who may"
    if person is Person.ADMIN and answer.status_code in (403, 404, 405):
        return ""
    if not is_refused(person, answer):
        return f"answered {answer.status_code} to those who may not"
    if HUSH in told(answer):
        return "the refusal tells a name"
    other = asked(client, method, page.address.format(**rows.missing)) if "{" in page.address else answer
    is_same = other.status_code == answer.status_code and told(other) == told(answer)
    return "" if is_same else "the refusal differs where nothing exists"


@pytest.mark.parametrize("person", Person)
def test_what_the_planner_says_of_an_act_is_told_to_those_who_may_do_it(person: Person, rows: Rows, come: Come) -> None:
    client = come(person)
    shown = [replace(page, address=f"{page.address}?preview={way}") for page in PREVIEWED for way in ("part", "1")]
    assert [(page.address, fault) for page in shown if (fault := fault_of(client, person, page, "get", rows))] == []


def test_to_someone_without_a_role_nothing_is_there_and_all_of_it_looks_the_same(rows: Rows, come: Come) -> None:
    client = come(Person.OUTSIDER)
    closed = [page.address.format(**rows.existing) for page in PAGES.values() if Person.OUTSIDER not in page.may]
    answers = [asked(client, "get", path) for path in [*closed, "/nowhere/", "/groups/nothing/", "/admin/x/", "/x.y"]]
    assert {answer.status_code for answer in answers} == {403}
    assert len({told(answer) for answer in answers}) == 1


@pytest.mark.parametrize("kind", Token)
def test_a_bearer_token_opens_no_page(kind: Token, rows: Rows, secret_of: Callable[[Token], str]) -> None:
    client, bearer, wrong = Client(), f"Bearer {secret_of(kind)}", []
    for pattern, page in PAGES.items():
        if Person.ANONYMOUS in page.may:
            continue
        for method in ("get", "post"):
            answer = asked(client, method, page.address.format(**rows.existing), authorization=bearer)
            if not is_login(answer) or HUSH in told(answer):
                wrong.append((pattern, method, answer.status_code))
    assert wrong == []
    metrics = asked(client, "get", "/metrics", authorization=bearer).status_code
    assert metrics == (200 if kind in METRICS else 401 if kind in UNPROVED else 403)


def test_every_write_of_a_session_needs_the_token_of_its_form(rows: Rows, come: Come) -> None:
    client, wrong, before = come(Person.ADMIN, enforce_csrf_checks=True), [], Action.objects.count()
    for number, (pattern, page) in enumerate(PAGES.items()):
        for method in {"post", WRITES[number % len(WRITES)]}:
            answer = asked(client, method, page.address.format(**rows.existing))
            if answer.status_code not in (403, 405) or HUSH in told(answer):
                wrong.append((pattern, method, answer.status_code))
    assert wrong == []
    assert Action.objects.count() == before


def test_a_login_from_a_page_of_another_site_is_refused(people: dict[str, object]) -> None:
    client = Client(enforce_csrf_checks=True)
    page = client.get("/login/", secure=True)
    form = {"username": "viewer", "password": "x", "csrfmiddlewaretoken": page.context["csrf_token"]}
    foreign = client.post("/login/", form, secure=True, headers={"Origin": "https://evil.example"})
    own = client.post("/login/", form, secure=True, headers={"Origin": "https://testserver"})
    assert (foreign.status_code, own.status_code) == (403, 200)
