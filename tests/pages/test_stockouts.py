"""Stock-outs: what is out of stock, who knows; acknowledge, clear and retry, hold longer."""

import re
from collections.abc import Callable
from datetime import datetime

import pytest
from django.test import Client

from iris_web.access import Role
from iris_web.live.fragments import lookup
from scaling import clock, operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Action, Group, Marker
from scaling.testing import builders
from tests.pages.conftest import Get, words_of

SignIn = Callable[[str], Client]


@pytest.fixture
def marker(group: Group, now: datetime) -> Marker:
    return builders.make_marker(group, now, message="no more v5p", failures=3)


def send(client: Client, marker: Marker, act: str, status: int = 302, **fields: str | int) -> str:
    answer = client.post(f"/stockouts/{marker.pk}/{act}/", fields)
    assert answer.status_code == status, words_of(answer.content.decode())
    return words_of(answer.content.decode())


def test_an_open_marker_shows_words_age_end_failures_and_owner(marker: Marker, see: Get) -> None:
    text = see("/stockouts/", "operator")
    assert "tpu-v5-8 us-east5-a stockout since 1 min no more v5p 3 failures, the last 1 min ago 14 min no owner" in text
    assert "Acknowledge stockout of tpu-v5-8" in text


def test_a_marker_that_has_run_out_waits_for_a_probe(marker: Marker, still: FrozenClock, see: Get) -> None:
    still.advance(840)
    assert "over waiting for a probe needs nobody" in see("/stockouts/")


def test_what_is_over_comes_after_what_is_in_force(group: Group, now: datetime, see: Get) -> None:
    builders.make_marker(builders.make_group("past"), now, until=now)
    builders.make_marker(builders.make_group("known"), now, acknowledged_at=now, acknowledged_by="ana")
    text = see("/stockouts/")
    assert text.index("known us-east5-a") < text.index("past us-east5-a")


def test_a_permanent_one_waits_for_a_person_and_cannot_be_held(group: Group, now: datetime, see: Get) -> None:
    builders.make_marker(group, now, "permanent", needs_person=True)
    text = see("/stockouts/", "operator")
    assert "until a person acts" in text and "needs a person" in text and "Hold longer" not in text


def test_what_nobody_has_seen_to_comes_first(group: Group, now: datetime, sign_in: SignIn) -> None:
    rows = {
        name: builders.make_marker(builders.make_group(name), now, **fields)
        for name, fields in {
            "seen": {"acknowledged_at": now, "acknowledged_by": "ana", "since": builders.before(now, 9000)},
            "new": {"since": builders.before(now, 10)},
            "old": {"since": builders.before(now, 5000)},
            "urgent": {"needs_person": True},
            "ran-out": {"acknowledged_at": now, "acknowledged_until": now, "since": builders.before(now, 8000)},
        }.items()
    }
    page = sign_in("viewer").get("/stockouts/").content.decode()
    order = [int(pk) for pk in re.findall(r'<tr id="marker-(\d+)"', page)]
    assert order == [rows[name].pk for name in ("urgent", "ran-out", "old", "new", "seen")]


def test_acknowledging_needs_a_note(marker: Marker, sign_in: SignIn) -> None:
    assert "Note: expected some text, got none." in send(sign_in("operator"), marker, "acknowledge", 422, note="  ")
    text = send(sign_in("operator"), marker, "acknowledge", 422, note="", until="2020-01-01T00:00")
    assert "Note: expected some text, got none." in text and "Expected a time in the future, got 2020-01-01" in text
    assert not Action.objects.exists()


def test_when_something_happens_and_how_long_it_holds_are_asked_for_differently(marker: Marker, see: Get) -> None:
    text = see(f"/stockouts/{marker.pk}/acknowledge/", "operator")
    assert "When never, while it lasts in 15 minutes in 1 hour" in text and "or exactly at, in UTC" in text
    text = see(f"/stockouts/{marker.pk}/hold/", "operator")
    assert "For choose how long 15 minutes 1 hour" in text and "or until exactly, in UTC" in text


def test_an_acknowledgement_is_kept_with_name_note_and_end(
    marker: Marker, now: datetime, sign_in: SignIn, see: Get
) -> None:
    client = sign_in("operator")
    send(client, marker, "acknowledge", note="ticket 4711", until_span="4h", version=1)
    marker.refresh_from_db()
    assert (marker.acknowledged_by, marker.acknowledged_note) == ("operator", "ticket 4711")
    assert marker.acknowledged_until == builders.after(now, 4 * 3600)
    action = Action.objects.get()
    assert (action.kind, action.actor, action.source, action.reason) == (
        "acknowledge",
        "operator",
        "page",
        "ticket 4711",
    )
    text = see("/stockouts/", "operator")
    assert "operator 0 s ago ticket 4711 · asks again in 4 h" in text and "Change note" in text
    assert "ticket 4711</textarea>" in client.get(f"/stockouts/{marker.pk}/acknowledge/").content.decode()


def test_clearing_closes_it_and_moves_it_to_the_history(marker: Marker, sign_in: SignIn, see: Get) -> None:
    send(sign_in("operator"), marker, "clear", reason="vendor says it is back", version=1)
    text = see("/stockouts/")
    assert "Nothing is out of stock" in text
    assert "no more v5p 1 min 3 failures 0 s ago vendor says it is back · operator" in text
    assert Action.objects.get().kind == "marker_cleared"


def test_holding_longer_moves_the_end_and_only_forward(marker: Marker, now: datetime, sign_in: SignIn) -> None:
    client = sign_in("operator")
    assert "Expected a time after the present end" in send(client, marker, "hold", 422, until="2026-01-01T12:05")
    assert "Expected a time" in send(client, marker, "hold", 422)
    send(client, marker, "hold", until_span="1h", reason="known outage")
    marker.refresh_from_db()
    assert marker.until == builders.after(now, 3600)


def test_the_second_of_two_people_is_told(marker: Marker, sign_in: SignIn) -> None:
    operations.acknowledge_marker(Actor.user("bo"), marker.pk, "mine")
    text = send(sign_in("operator"), marker, "acknowledge", 409, note="no, mine", version=1)
    assert "bo acknowledged it just now: mine." in text
    marker.refresh_from_db()
    assert marker.acknowledged_note == "mine"


def test_a_closed_marker_is_acted_on_no_more(marker: Marker, sign_in: SignIn) -> None:
    operations.clear_marker(Actor.user("bo"), marker.pk)
    assert "was closed" in send(sign_in("operator"), marker, "acknowledge", 422, note="late")
    assert sign_in("operator").post("/stockouts/999999/clear/").status_code == 404
    assert sign_in("operator").get(f"/stockouts/{10**30}/clear/").status_code == 404


@pytest.mark.parametrize(
    ("query", "groups"),
    [("", ["a", "b", "c", "d", "e"]), ("?kind=quota", ["c"]), ("?owner=none", ["a", "c", "d"]), ("?owner=some", ["b"]),
     ("?group=b", ["b"]), ("?q=NO+SUCH", ["c"]), ("?zone=us-west4-a", ["b"])],
)  # fmt: skip
def test_filters_are_in_the_address(query: str, groups: list[str], db: None, now: datetime, sign_in: SignIn) -> None:
    builders.make_marker(builders.make_group("a"), now)
    builders.make_marker(builders.make_group("b", zone="us-west4-a"), now, acknowledged_at=now, acknowledged_by="x")
    builders.make_marker(builders.make_group("c"), now, "quota", message="no such quota")
    builders.make_marker(builders.make_group("d"), now, "backoff", failures=1)
    builders.make_marker(builders.make_group("e"), now, until=now)
    page = sign_in("viewer").get(f"/stockouts/{query}").content.decode()
    assert sorted(re.findall(r'<th scope="row"><a href="/groups/([a-z])/"', page)) == groups


def test_nothing_open_and_nothing_found_are_two_things(group: Group, see: Get) -> None:
    assert "Nothing is out of stock" in see("/stockouts/")
    assert "No open one is like that" in see("/stockouts/?kind=quota")


def test_a_long_note_is_folded_and_still_there_whole(marker: Marker, sign_in: SignIn) -> None:
    note = "x" * 900
    operations.acknowledge_marker(Actor.user("bo"), marker.pk, note)
    page = sign_in("viewer").get("/stockouts/").content.decode()
    assert f'<details class="note" id="note-{marker.pk}"><summary><span class="short">{"x" * 159}…</span>' in page
    assert '<span class="more">Show the whole note</span>' in page and "Whole note" in words_of(
        sign_in("viewer").get("/").content.decode()
    )
    assert page.count(note) == 1


def test_only_whole_addresses_in_a_note_are_links(marker: Marker, sign_in: SignIn) -> None:
    note = "see (https://wiki/x?a=1&b=<2>). javascript:alert(1) rack4.net http:// <b>'ana@here.org'"
    operations.acknowledge_marker(Actor.user("bo"), marker.pk, note)
    page = sign_in("viewer").get("/stockouts/").content.decode()
    link = '<a href="https://wiki/x?a=1&amp;b=" rel="nofollow noopener noreferrer">https://wiki/x?a=1&amp;b=</a>'
    assert f"see ({link}&lt;2&gt;). javascript:alert(1) rack4.net http:// &lt;b&gt;&#x27;ana@here.org&#x27;" in page


def test_what_was_stored_with_hidden_characters_is_shown_with_marks(marker: Marker, see: Get) -> None:
    """As notes of early versions may have; in the page and in its fragments. A field of a form keeps what is stored."""
    Marker.objects.update(acknowledged_at=clock.now(), acknowledged_by="bo", acknowledged_note="gpj.\u202eexe")
    alone = lookup("stockouts.open", {"query": ""}, Role.VIEWER)[0].render({"query": ""}, Role.VIEWER)
    for text in (see("/stockouts/"), alone):
        assert "gpj.\N{REPLACEMENT CHARACTER}exe" in text and "\u202e" not in text
    assert see(f"/stockouts/{marker.pk}/acknowledge/", "operator").count("gpj.\u202eexe") == 1
