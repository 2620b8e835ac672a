"""Fragments over the socket: rendered once for all, soon, not too often, and for the right role."""

import time
from contextlib import ExitStack

from scaling import feed
from tests.live.client import LiveClient, Message
from tests.live.conftest import Open
from tests.live.pages import Counts

A: Message = {"name": "test.group", "params": {"name": "a"}}
B: Message = {"name": "test.group", "params": {"name": "b"}}


def contents(client: LiveClient) -> list[str]:
    return [message["content"] for message in client.of("fragment")]


def test_an_event_brings_the_fragment_and_says_where_it_belongs(page: Open, counts: Counts) -> None:
    with page() as client:
        client.hello(str(feed.head()), [A, B], ["group:a"])
        event = feed.publish("group:a", "limits", {"max": 3})
        client.until(lambda: bool(client.of("fragment")))
        client.listen(0.4)
    (fragment,) = client.of("fragment")
    assert "a changed 1 times for viewer" in fragment["content"]
    assert fragment["target"].startswith("#live-test-group-")
    assert fragment["swap"].startswith("innerMorph")
    assert client.numbers() == [event.pk]
    assert client.events()[0]["payload"] == {"max": 3}
    assert set(counts.rendered) == {"group a viewer"}


def test_the_same_fragment_is_rendered_once_for_many_pages_and_once_per_role(page: Open, counts: Counts) -> None:
    with ExitStack() as stack:
        clients = [stack.enter_context(page(role)) for role in ["viewer"] * 5 + ["admin"] * 2]
        for client in clients:
            client.hello(str(feed.head()), [A])
        feed.publish("group:a", "limits")
        for client in clients:
            client.until(lambda client=client: bool(client.of("fragment")))
    assert counts.rendered == {"group a viewer": 1, "group a admin": 1}
    assert "for admin" in contents(clients[-1])[0]
    assert len({contents(client)[0] for client in clients[:5]}) == 1


def test_events_are_sent_one_by_one_only_for_lists_and_for_topics_asked_for(page: Open) -> None:
    with page() as client:
        client.hello(str(feed.head()), [A, {"name": "test.rows"}], ["cycle"])
        told = [feed.publish(topic, "x").pk for topic in ("rows", "group:a", "cycle")]
        client.until(lambda: len(client.numbers()) == 2 and bool(client.of("fragment")))
        client.listen(0.3)
    assert client.numbers() == [told[0], told[2]]


def test_a_flood_renders_four_times_a_second_and_ends_with_the_truth(page: Open, counts: Counts) -> None:
    with page() as client:
        client.hello(str(feed.head()), [A], ["group:a"])
        began = time.monotonic()
        while time.monotonic() - began < 2:
            feed.publish("group:a", "limits")
            time.sleep(0.01)
        total = feed.publish("group:a", "last").pk
        client.until(lambda: total in client.numbers())
        client.listen(1)
    seconds = time.monotonic() - began
    assert 4 <= counts.rendered["group a viewer"] <= 4.3 * seconds + 1
    changed = len(client.numbers())
    assert f"a changed {changed} times" in contents(client)[-1]
    assert client.numbers() == sorted(set(client.numbers()))


def test_a_part_is_news_for_the_whole(page: Open) -> None:
    with page() as client:
        client.hello(str(feed.head()), topics=["groups"])
        mine = [feed.publish("group:a", "x").pk, feed.publish("groups", "x").pk]
        feed.publish("slice:a", "x")
        client.until(lambda: client.numbers() == mine)
        client.listen(0.3)
    assert client.numbers() == mine


def test_a_role_gets_no_fragment_that_it_may_not_see(page: Open) -> None:
    with page("operator") as client:
        client.hello(str(feed.head()), [{"name": "test.secret"}, A])
        feed.publish("platforms", "changed")
        client.listen(0.5)
        assert client.events() == []
        assert client.of("fragment") == []
        assert [message["reason"] for message in client.of("refused")] == [
            "fragment: your role may not see 'test.secret'"
        ]


def test_what_does_not_exist_is_refused_by_name_and_the_rest_works(page: Open) -> None:
    wrong = [{"name": "nothing"}, {"name": "test.group"}, {"name": "test.group", "params": {"x": "1"}}]
    with page() as client:
        client.hello(str(feed.head()), [*wrong, {"name": "test.group", "params": {"name": 3}}, A])
        client.until(lambda: len(client.of("refused")) == 4)
        feed.publish("group:a", "x")
        client.until(lambda: len(client.of("fragment")) == 1)


def test_a_fragment_that_fails_says_so_and_is_tried_again(page: Open, counts: Counts) -> None:
    with page() as client:
        client.hello(str(feed.head()), [A, B])
        counts.fail.set()
        feed.publish("group:a", "x")
        client.until(lambda: bool(client.of("failed")))
        counts.fail.clear()
        client.until(lambda: bool(client.of("fragment")))
    assert "a changed 1 times" in contents(client)[0]
    assert len(client.of("failed")) == 1


def test_a_fragment_of_something_removed_says_gone(page: Open, counts: Counts) -> None:
    counts.gone.set()
    with page() as client:
        client.hello(str(feed.head()), [A])
        feed.publish("group:a", "removed")
        client.until(lambda: bool(client.of("gone")))
        assert client.of("failed") == []


def test_a_second_hello_replaces_what_is_followed(page: Open) -> None:
    with page() as client:
        client.hello(str(feed.head()), [A], ["group:a"])
        first = feed.publish("group:a", "x").pk
        client.until(lambda: len(client.of("fragment")) == 1)
        client.hello(client.cursor(), [{**B, "asof": client.cursor()}], ["group:b"])
        feed.publish("group:a", "x")
        last = feed.publish("group:b", "x").pk
        client.until(lambda: len(client.of("fragment")) == 2)
    assert client.numbers() == [first, last]
    assert "b changed" in contents(client)[-1]


def test_a_list_sends_its_new_rows_alone_and_by_its_filter(page: Open, counts: Counts) -> None:
    with page() as client:
        client.hello(str(feed.head()), [{"name": "test.rows"}])
        rows = feed.publish_many([("rows", "row", {"text": "<b>"}), ("rows", "other", None), ("rows", "row", None)])
        client.until(lambda: bool(client.of("rows")))
        client.listen(0.4)
    sent = [row for message in client.of("rows") for row in message["rows"]]
    assert [row_id for row_id, _ in sent] == [f"row-{rows[0].pk}", f"row-{rows[2].pk}"]
    assert sent[0][1].startswith(f'<tr id="row-{rows[0].pk}"')
    assert "&lt;b&gt;" in sent[0][1]
    assert counts.rendered["list whole"] == 0


def test_a_quiet_page_gets_signs_of_life_with_a_newer_cursor(page: Open) -> None:
    with page() as client:
        before = feed.head()
        client.hello(str(before), [A])
        feed.publish("cycle", "done")
        (event,) = feed.read_after(before)
        client.until(lambda: any(m["cursor"] == str(event.position) for m in client.of("tick")))
        assert client.events() == []
        assert client.of("tick")[-1]["behind"] == []
