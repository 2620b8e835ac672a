"""A connection that was lost: nothing missed, nothing twice, and honesty when the feed cannot tell any more."""

import threading
import time
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection

from iris_web.live import missed, renderings
from scaling import clock, feed
from scaling.feed import Position
from tests.live.client import LiveClient, Message
from tests.live.conftest import Open
from tests.live.pages import Counts

A: Message = {"name": "test.group", "params": {"name": "a"}}
ROWS: Message = {"name": "test.rows"}


def caught_up(page: Open) -> None:
    """Waits until the server's reader of the feed has read all that was published so far."""
    with page() as client:
        client.hello(str(feed.head()), topics=["slice:caught-up"])
        last = feed.publish("slice:caught-up", "x").pk
        client.until(lambda: last in client.numbers())


def test_what_happened_between_page_and_socket_comes_with_the_hello(page: Open) -> None:
    cursor = str(feed.head())
    event, other = feed.publish("group:a", "x"), feed.publish("group:b", "x")
    with page() as client:
        client.hello(cursor, [A], ["groups"])
        client.until(lambda: bool(client.of("fragment")))
    assert client.numbers() == [event.pk, other.pk]


def test_an_unchanged_fragment_is_not_sent_again(page: Open, counts: Counts) -> None:
    feed.publish("group:a", "x")
    caught_up(page)
    with page() as client:
        client.hello(str(feed.head()), [A])
        client.listen(0.5)
    assert client.of("fragment") == []
    assert counts.rendered == {}


def test_a_fragment_that_was_behind_its_events_is_sent_though_no_event_is_new(page: Open) -> None:
    before = str(feed.head())
    feed.publish("group:a", "x")
    with page() as client:
        client.hello(str(feed.head()), [{**A, "asof": before}])
        client.until(lambda: bool(client.of("fragment")))
    assert client.events() == []


class Writer(threading.Thread):
    """Publishes on `rows` all the time, as several transactions a moment."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[int] = []
        self._stopping = threading.Event()

    def run(self) -> None:
        while not self._stopping.wait(0.01):
            self.ids += [row.pk for row in feed.publish_many([("rows", "row", {"n": 1}), ("rows", "row", {"n": 2})])]
        connection.close()

    def stop(self) -> None:
        self._stopping.set()
        self.join()


def test_a_connection_lost_again_and_again_under_activity_misses_and_doubles_nothing(
    page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slow the machine: no gap is so long that everything is sent anew.
    monkeypatch.setattr(missed, "MAX_EVENTS", 10**6)
    for module in (missed, renderings):
        monkeypatch.setattr(module, "MAX_ROW_EVENTS", 10**6)
    cursor, asof = str(feed.head()), str(feed.head())
    told: list[LiveClient] = []
    writers = [Writer() for _ in range(3)]
    for writer in writers:
        writer.start()
    for turn in range(12):
        with page() as client:
            client.hello(cursor, [{**ROWS, "asof": asof}])
            client.listen(0.1 + 0.03 * turn)
        told.append(client)
        cursor = client.cursor()
        asof = client.of("rows")[-1]["asof"] if client.of("rows") else asof
        time.sleep(0.05)
    for writer in writers:
        writer.stop()
    written = sorted(number for writer in writers for number in writer.ids)
    with page() as client:
        client.hello(cursor, [{**ROWS, "asof": asof}])
        told.append(client)
        client.until(lambda: len(_numbers(told)) >= len(written) and written[-1] in _rows(told), seconds=20)
    assert [(number, _story(told)) for number, times in Counter(_numbers(told)).items() if times > 1] == []
    assert sorted(_numbers(told)) == written
    assert _rows(told) == set(written)


def _numbers(clients: list[LiveClient]) -> list[int]:
    return [number for client in clients for number in client.numbers()]


def _rows(clients: list[LiveClient]) -> set[int]:
    shown = [row_id for client in clients for message in client.of("rows") for row_id, _ in message["rows"]]
    return {int(row_id.removeprefix("row-")) for row_id in shown}


def _story(clients: list[LiveClient]) -> list[list[tuple[str, str, list[str]]]]:
    """What each connection was told, for a failure to be understood by."""
    return [
        [(one["type"], one.get("cursor", ""), [event["id"] for event in one.get("events", [])]) for one in client.told]
        for client in clients
    ]


def test_events_keep_their_order_over_a_loss(page: Open) -> None:
    with page() as client:
        client.hello(str(feed.head()), topics=["rows"])
        first = [feed.publish("rows", "row").pk for _ in range(5)]
        client.until(lambda: client.numbers() == first)
        cursor = client.cursor()
    lost = [feed.publish("rows", "row").pk for _ in range(5)]
    with page() as again:
        again.hello(cursor, topics=["rows"])
        later = [feed.publish("rows", "row").pk for _ in range(5)]
        again.until(lambda: again.numbers() == lost + later)


def test_a_cursor_that_was_pruned_away_resyncs_everything(page: Open, counts: Counts) -> None:
    cursor = str(feed.head())
    for _ in range(3):
        feed.publish("group:a", "x", at=clock.now() - timedelta(days=9))
    feed.publish("group:b", "x")
    feed.prune(clock.now() - timedelta(days=2))
    with page() as client:
        assert client.hello(cursor, [A, ROWS])["resync"] is True
        client.until(lambda: len(client.of("fragment")) == 2)
        fresh = feed.publish("rows", "row").pk
        client.until(lambda: client.numbers() == [fresh])
    assert counts.rendered["list whole"] == 1


@pytest.mark.parametrize("cursor", [None, "", "nonsense", str(Position(0, 2**62)), str(Position(2**62, 1))])
def test_a_cursor_that_this_feed_never_gave_resyncs_everything(page: Open, cursor: str | None) -> None:
    with page() as client:
        assert client.hello(cursor, [A])["resync"] is True
        client.until(lambda: bool(client.of("fragment")))


def test_whoever_missed_too_much_is_told_so_instead(page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missed, "MAX_EVENTS", 20)
    cursor = str(feed.head())
    feed.publish_many([("group:a", "x", None)] * 21)
    caught_up(page)
    with page() as client:
        welcome = client.hello(cursor, [A], ["groups"])
        client.until(lambda: bool(client.of("fragment")))
        assert welcome["resync"] is True
        assert Position.parse(welcome["cursor"]) > Position.parse(cursor)
        assert client.events() == []


def test_a_list_that_missed_many_rows_is_sent_whole(page: Open, counts: Counts) -> None:
    cursor = str(feed.head())
    feed.publish_many([("rows", "row", None)] * 600)
    caught_up(page)
    with page() as client:
        client.hello(cursor, [ROWS])
        client.until(lambda: bool(client.of("fragment")))
        assert len(client.numbers()) == 600
        assert client.of("rows") == []


def test_rows_that_cannot_be_rendered_at_the_hello_follow_once_they_can(page: Open, counts: Counts) -> None:
    cursor = str(feed.head())
    row = feed.publish("rows", "row")
    counts.fail.set()
    with page() as client:
        client.hello(cursor, [ROWS])
        client.until(lambda: bool(client.of("failed")))
        counts.fail.clear()
        client.until(lambda: bool(client.of("rows")))
    assert client.of("rows")[0]["rows"][0][0] == f"row-{row.pk}"
    assert client.numbers() == [row.pk]


def test_much_activity_elsewhere_does_not_make_a_client_take_everything_anew(
    page: Open, counts: Counts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missed, "MAX_EVENTS", 20)
    cursor = str(feed.head())
    feed.publish_many([("group:a", "x", None)] * 200)
    row = feed.publish("rows", "row").pk
    caught_up(page)
    with page() as client:
        assert client.hello(cursor, [A, ROWS])["resync"] is False
        client.until(lambda: bool(client.of("fragment")) and bool(client.of("rows")))
    assert client.numbers() == [row]
    assert counts.rendered["list whole"] == 0


def test_two_hellos_in_a_row_bring_no_event_twice(page: Open) -> None:
    cursor = str(feed.head())
    first = feed.publish("rows", "row").pk
    with page() as client:
        client.hello(cursor, topics=["rows"])
        client.hello(cursor, topics=["rows"])
        second = feed.publish("rows", "row").pk
        client.until(lambda: len(client.numbers()) >= 2)
        client.listen(0.3)
    assert client.numbers() == [first, second]


def test_a_client_that_does_not_read_is_closed_and_resumes_without_a_gap(page: Open) -> None:
    cursor = str(feed.head())
    text = "x" * 20_000
    with page(max_queue=1, compression=None) as client:
        client.hello(cursor, topics=["rows"])
        ids = []
        for _ in range(60):
            ids += [row.pk for row in feed.publish_many([("rows", "row", {"text": text})] * 20)]
            time.sleep(0.01)
        assert client.until_closed(30) == 1013
        assert client.reason == "too slow"
    got = client.numbers()
    assert len(got) < len(ids)
    with page() as again:
        again.hello(client.cursor(), topics=["rows"])
        again.until(lambda: got + again.numbers() == ids, seconds=20)
