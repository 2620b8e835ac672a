"""Template tags: the socket, fragments with the same element for page and feed, and times in words."""

from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pytest
from django.contrib.auth.models import AnonymousUser
from django.template import Context, RequestContext, Template
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from iris_web.access import Role
from iris_web.live import fragments
from iris_web.live.fragments import BadFragment, Fragment
from iris_web.live.middleware import LiveCursorMiddleware
from iris_web.live.times import duration_text
from scaling import clock, feed
from tests.live import pages

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def render(text: str, **context: object) -> str:
    with clock.frozen(NOW):
        return Template("{% load live %}" + text).render(Context({"role": Role.VIEWER, **context}))


class Attributes(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[dict[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append({"tag": tag, **dict(attrs)})


def test_a_fragment_stands_in_the_page_as_the_feed_will_send_it(counts: pages.Counts) -> None:
    text = render('{% live_fragment "test.group" name=name tag="section" class_="card" %}', name='a"b')
    element = Attributes(text).found[0]
    fragment, key = fragments.lookup("test.group", {"name": 'a"b'}, Role.VIEWER)
    assert element["tag"] == "section"
    assert element["id"] == key.element_id
    assert element["class"] == "live card"
    assert element["data-live-params"] == '{"name": "a\\"b"}'
    assert str(fragment.render({"name": 'a"b'}, Role.VIEWER)) in text
    assert "a&quot;b changed 0 times for viewer" in text


def test_attributes_alone_go_around_own_content() -> None:
    element = Attributes(render('<p {% live "test.rows" kind="row" %}>mine</p>')).found[0]
    assert element["data-live"] == "test.rows"


def test_the_element_is_the_same_for_all_roles_and_another_for_other_parameters() -> None:
    ids = {fragments.lookup("test.group", {"name": "a"}, role)[1].element_id for role in Role}
    other = fragments.lookup("test.group", {"name": "b"}, Role.VIEWER)[1].element_id
    assert len(ids) == 1
    assert other not in ids


def test_a_fragment_the_role_may_not_see_is_not_drawn() -> None:
    with pytest.raises(BadFragment, match="your role may not see"):
        render('{% live_fragment "test.secret" %}')


def test_two_fragments_cannot_have_one_name() -> None:
    with pytest.raises(ValueError, match="registered twice"):
        fragments.register(Fragment("test.group", "other.html", lambda _p, _r: {}, ()))


def test_the_page_notes_the_feed_before_it_reads_anything() -> None:
    request = RequestFactory().get("/groups/")
    request.user = AnonymousUser()
    before = feed.head()

    def view(request: object) -> object:
        feed.publish("groups", "changed while the page was made")
        return Template("{% load live %}{% live_socket %}").render(RequestContext(request))  # type: ignore[arg-type]

    text = LiveCursorMiddleware(view)(request)  # type: ignore[arg-type]
    element = Attributes(str(text)).found[0]
    assert element["data-live-cursor"] == str(before)
    assert element["data-live-csrf"]
    assert element["data-live-login"] == "/login/"


@pytest.mark.parametrize("path", ["/static/css/tokens.css", "/api/v1/status", "/healthz", "/admin/"])
def test_what_is_no_live_page_costs_no_query(path: str, django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        LiveCursorMiddleware(lambda _request: None)(RequestFactory().get(path))  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "0 s"), (0, "0 s"), (59.9, "59 s"), (60, "1 min"), (250, "4 min 10 s"), (3600, "1 h"), (3661, "1 h 1 min"),
     (18_720, "5 h 12 min"), (86_400, "1 d"), (86_460, "1 d"), (273_600, "3 d 4 h")],
)  # fmt: skip
def test_durations_are_said_in_their_two_largest_units(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@given(st.floats(0, 1e8))
def test_a_duration_in_words_is_never_off_by_more_than_the_unit_it_leaves_out(seconds: float) -> None:
    sizes = {"d": 86_400, "h": 3600, "min": 60, "s": 1}
    words = duration_text(seconds).split()
    said = sum(int(count) * sizes[unit] for count, unit in zip(words[::2], words[1::2], strict=True))
    smallest = {"d": 3600, "h": 60}.get(words[1], 1)
    assert 0 <= seconds - said < max(1, smallest)


def test_times_carry_the_moment_and_utc() -> None:
    at = NOW - timedelta(seconds=250)
    age = Attributes(render("{% age at %}", at=at)).found[0]
    assert age["datetime"] == "2026-01-01T11:55:50+00:00"
    assert age["title"] == "2026-01-01 11:55:50 UTC"
    assert ">4 min 10 s<" in render("{% age at %}", at=at)
    assert ">1 min<" in render("{% countdown at %}", at=NOW + timedelta(minutes=1))
    assert ">2026-01-01 11:55:50 UTC<" in render("{% local_time at %}", at=at)
    assert render("{% age at %}", at=None) == "–"
    assert render("{{ 90|duration }}") == "1 min 30 s"
