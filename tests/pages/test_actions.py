"""The history: who or what did this, found by filters in the address, one page after another."""

import re
from collections.abc import Callable
from datetime import datetime

import pytest
from django.test import Client

from iris_web.access import Role
from iris_web.live.fragments import lookup
from iris_web.pages import action as action_page
from iris_web.pages import actions as actions_page
from scaling.feed import FeedEvent
from scaling.models import Action, Task
from scaling.testing import builders
from tests.pages.conftest import Get, words_of

SignIn = Callable[[str], Client]


@pytest.fixture
def history(db: None, now: datetime) -> dict[str, Action]:
    """Five acts over two hours: three of Iris, one of a person, one of a token."""

    def ago(seconds: float) -> datetime:
        return builders.before(now, seconds)

    return {
        "up": builders.make_action("scale_up", ago(7200), group="tpu-1", slice="tpu-1-aa", cycle=7, reason="deficit 1"),
        "ready": builders.make_action("slice_ready", ago(5400), group="tpu-1", slice="tpu-1-aa", reason="booted"),
        "failed": builders.make_action("create_failed", ago(3000), group="tpu-2", outcome="failed", reason="no stock"),
        "drain": builders.make_action("drain", ago(1800), group="tpu-1", actor_kind="user", actor="ana", source="page",
                                      reason="rack 4"),
        "put": builders.make_action("put_job", ago(60), job="train", actor_kind="token", actor="slurm", source="api"),
    }  # fmt: skip


def kinds(client: Client, query: str = "") -> list[str]:
    page = client.get(f"/actions/{query}").content.decode()
    return re.findall(r'<tr id="action-\d+".*?</svg> ([a-z ]+)</a>', page, re.S)


def test_the_newest_comes_first_with_who_what_and_why(history: dict[str, Action], sign_in: SignIn, see: Get) -> None:
    assert kinds(sign_in("viewer")) == ["put job", "drain", "create failed", "slice ready", "scale up"]
    text = see("/actions/")
    assert "2026-01-01 11:30:00 UTC drain tpu-1 rack 4 ana user, page ok" in text
    assert "create failed tpu-2 no stock iris failed" in text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?kind=drain", ["drain"]),
        ("?outcome=failed", ["create failed"]),
        ("?by=people", ["put job", "drain"]),
        ("?by=system", ["create failed", "slice ready", "scale up"]),
        ("?actor=ana", ["drain"]),
        ("?group=tpu-1", ["drain", "slice ready", "scale up"]),
        ("?slice=tpu-1-aa", ["slice ready", "scale up"]),
        ("?job=train", ["put job"]),
        ("?cycle=7", ["scale up"]),
        ("?span=1h", ["put job", "drain", "create failed"]),
        ("?from=2026-01-01T10:00&to=2026-01-01T11:00", ["slice ready", "scale up"]),
        ("?q=STOCK", ["create failed"]),
        ("?q=rack", ["drain"]),
        ("?q=ana", ["drain"]),
        ("?group=tpu-1&kind=scale_up", ["scale up"]),
        ("?q=nothing+like+it", []),
    ],
)
def test_filters_are_in_the_address(
    query: str, expected: list[str], history: dict[str, Action], sign_in: SignIn
) -> None:
    assert kinds(sign_in("viewer"), query) == expected


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("?kind=bogus", "Kind: there is no “bogus”. Choose one from the list."),
        ("?kind=drian", "Kind: there is no “drian”. Did you mean drain"),
        ("?from=then", "From: “then” is not a time"),
        ("?cycle=x", "not a whole"),
        ("?from=2026-01-01T11:00&to=2026-01-01", "From 2026-01-01 11:00 UTC is later than to 2026-01-01 00:00 UTC"),
        ("?from=2026-01-01&to=2026-01-01", "For a whole day, choose the next as its end."),
        ("?span=1h&to=2025-12-31T08:00:30", "The last hour began after 2025-12-31 08:00:30 UTC"),
    ],
)
def test_a_filter_that_cannot_be_meant_is_said(query: str, words: str, history: dict[str, Action], see: Get) -> None:
    assert words in see(f"/actions/{query}")


def test_times_are_shown_in_their_fields_however_they_were_written(db: None, sign_in: SignIn) -> None:
    page = sign_in("viewer").get("/actions/?from=2026-01-01&to=2026-01-02T10:30:05%2B02:00").content.decode()
    assert 'name="from" step="any" value="2026-01-01T00:00"' in page
    assert 'name="to" step="any" value="2026-01-02T08:30:05"' in page
    assert "From, in UTC" in page and "From: 2026-01-01 00:00 UTC" in page and "To: 2026-01-02 08:30:05 UTC" in page
    page = sign_in("viewer").get("/actions/?from=2026-01-01T09:00-08:00&to=2026-01-02T10:00+02:00").content.decode()
    assert "From: 2026-01-01 17:00 UTC" in page and "To: 2026-01-02 08:00 UTC" in page, "as they are typed by hand"
    page = sign_in("viewer").get("/actions/?from=2026-01-01T10:00:00.5&to=2026-01-02T10:00:00.123456").content.decode()
    assert 'type="datetime-local" data-utc name="from" step="any" value="2026-01-01T10:00:00.500"' in page
    # Browsers forget such a time in a field of the other type.
    assert 'type="text" data-utc name="to" step="any" value="2026-01-02T10:00:00.123456"' in page


def test_a_long_history_is_walked_in_both_directions(db: None, now: datetime, sign_in: SignIn) -> None:
    Action.objects.bulk_create(Action(at=now, kind="scale_up", reason=f"n{n}") for n in range(250))
    client, seen, addresses = sign_in("viewer"), [], [""]
    while True:
        page = client.get(f"/actions/{addresses[-1]}").content.decode()
        seen += [int(pk) for pk in re.findall(r'<tr id="action-(\d+)"', page)]
        following = re.search(r'rel="next" href="([^"]+)"', page)
        if not following:
            break
        addresses.append(following[1])
    assert len(seen) == 250 and seen == sorted(seen, reverse=True) and len(addresses) == 5
    back = re.search(r'rel="prev" href="([^"]+)"', page)
    assert back is not None
    earlier = client.get(f"/actions/{back[1]}").content.decode()
    assert [int(pk) for pk in re.findall(r'<tr id="action-(\d+)"', earlier)] == seen[150:200]


@pytest.fixture
def drowned(history: dict[str, Action], now: datetime) -> None:
    """The history under updates of demand."""
    for _ in range(12):
        builders.make_action("demand", now, target="source slurm", actor_kind="token", actor="slurm", source="api")
    builders.make_action("deferred", now, group="tpu-1", reason="2 slices must wait")


def test_routine_updates_are_hidden_behind_a_line_that_says_how_many(drowned: None, sign_in: SignIn, see: Get) -> None:
    client = sign_in("viewer")
    assert kinds(client) == ["put job", "drain", "create failed", "slice ready", "scale up"]
    assert "12 routine demand updates and 1 deferral by a rate hidden · show" in see("/actions/")
    assert kinds(client, "?routine=shown")[:2] == ["deferred", "demand"]
    assert "shown · hide" in see("/actions/?routine=shown")
    assert kinds(client, "?kind=demand") == ["demand"] * 12, "a kind that is asked for is shown"
    assert "look among routine updates" in see("/actions/?q=slurm+no")


def test_routine_updates_do_not_come_live_either(drowned: None) -> None:
    events = [event(row) for row in Action.objects.filter(kind__in=("demand", "drain"))]
    for name, given in (("actions.list", {"query": ""}), ("overview.actions", {})):
        fragment, _ = lookup(name, given, Role.VIEWER)
        rows = fragment.render_rows(given, Role.VIEWER, events)  # type: ignore[attr-defined]
        assert len(rows) == 1 and "drain" in rows[0][1], name


def test_all_kinds_are_offered_in_plain_order_without_numbers_that_the_next_act_makes_wrong(
    drowned: None, sign_in: SignIn
) -> None:
    page = sign_in("viewer").get("/actions/").content.decode()
    told = re.findall(r"<option[^>]*>([^<]*)</option>", page.partition('name="kind"')[2].partition("</select>")[0])
    assert told == ["any", *sorted(told[1:])] and {"drain", "create user", "halt"} <= set(told)


def test_a_kind_that_only_the_history_knows_can_be_chosen(db: None, now: datetime, sign_in: SignIn) -> None:
    builders.make_action("of_old", now)
    assert kinds(sign_in("viewer"), "?kind=of_old") == ["of old"]


def test_an_action_links_all_that_it_acted_on(db: None, now: datetime, sign_in: SignIn) -> None:
    builders.make_action("drain", now, group="g", slice="iris-g-1", actor_kind="user", actor="ana")
    for path in ("/", "/actions/", f"/actions/{Action.objects.get().pk}/"):
        page = sign_in("viewer").get(path).content.decode()
        assert 'href="/groups/g/"' in page and 'href="/slices/iris-g-1/"' in page, path
        assert "…-1</a>" in page or "iris-g-1</a>" in page, path


def test_a_request_for_a_slice_names_every_job_it_is_for(db: None, now: datetime, sign_in: SignIn) -> None:
    jobs = [{"job": "slurm:a", "tasks": 2}, {"job": "ray:b", "tasks": 1}]
    after = {"shape": "TPU-v5-8", "jobs": jobs, "more_jobs": 3}
    row = builders.make_action("scale_up", now, group="g", slice="g-1", job="a", target="source slurm", after=after)
    page = sign_in("viewer").get(f"/actions/{row.pk}/").content.decode()
    assert "Bought for a 2 tasks b 1 task and 3 jobs more" in words_of(page)
    assert 'href="/demand/slurm:a/"' in page and 'href="/demand/ray:b/"' in page
    assert "shape TPU-v5-8" in words_of(page) and "[{" not in words_of(page)


def test_a_release_names_the_jobs_that_ran_there(db: None, now: datetime, see: Get) -> None:
    job = builders.make_job(now, "train")
    Task.objects.create(job=job, worker=None, slice_name="g-1", state="done", assigned_at=now, ended_at=now)
    row = builders.make_action("scale_down", now, group="g", slice="g-1", reason="idle for 6 min")
    assert "Jobs that ran on it train" in see(f"/actions/{row.pk}/")


def test_nothing_yet_and_nothing_found_are_two_things(db: None, see: Get) -> None:
    assert "Nothing has happened yet" in see("/actions/")
    assert "No action is like that" in see("/actions/?kind=drain")


def event(action: Action) -> FeedEvent:
    return FeedEvent(position=None, at=action.at, topic="actions", kind="action", payload={"id": action.pk})  # type: ignore[arg-type]


def test_new_rows_obey_the_filters_of_the_page_and_leave_older_pages_alone(history: dict[str, Action]) -> None:
    events = [event(row) for row in history.values()]
    fragment, _ = lookup("actions.list", {"query": "kind=drain"}, Role.VIEWER)
    rows = fragment.render_rows({"query": "kind=drain"}, Role.VIEWER, events)  # type: ignore[attr-defined]
    assert [name for name, _ in rows] == [f"action-{history['drain'].pk}"]
    assert "rack 4" in rows[0][1]
    assert fragment.render_rows({"query": "after=3"}, Role.VIEWER, events) == []  # type: ignore[attr-defined]
    every = fragment.render_rows({"query": ""}, Role.VIEWER, events)  # type: ignore[attr-defined]
    assert [name for name, _ in every] == [f"action-{row.pk}" for row in history.values()], "oldest first"


def test_an_action_tells_its_cause_and_what_followed(db: None, now: datetime, see: Get) -> None:
    drain = builders.make_action("drain", now, group="g", actor_kind="user", actor="ana", source="page")
    down = builders.make_action("scale_down", now, group="g", slice="g-1", cause=drain)
    gone = builders.make_action("slice_swept", now, group="g", slice="g-1", cause=down)
    text = see(f"/actions/{down.pk}/")
    assert "drain g 2026-01-01 12:00:00 UTC by ana" in text and "slice swept g g-1" in text
    assert "ana decided it." in see(f"/actions/{drain.pk}/")
    assert "scale down g g-1" in see(f"/actions/{drain.pk}/") and "slice swept g g-1" in see(f"/actions/{drain.pk}/")
    assert "Nothing has followed from it." in see(f"/actions/{gone.pk}/")


def test_a_long_chain_of_causes_is_cut_with_a_link_to_the_rest(db: None, now: datetime, sign_in: SignIn) -> None:
    chain = [builders.make_action("scale_up", now)]
    for _ in range(7):
        chain.append(builders.make_action("scale_up", now, cause=chain[-1]))
    page = sign_in("viewer").get(f"/actions/{chain[-1].pk}/").content.decode()
    assert "Earlier causes" in page and f'href="/actions/{chain[-6].pk}/"' in page


def test_before_and_after_are_shown_field_by_field(db: None, now: datetime, see: Get) -> None:
    row = builders.make_action(
        "set_limits", now, before={"max_slices": 8, "pool": None}, after={"max_slices": 12, "pool": "p"}
    )
    assert "Max slices max_slices 8 12 pool none p" in see(f"/actions/{row.pk}/")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, None, []),
        ({"a": 1}, None, [("a", "1", "")]),
        (None, {"a": ""}, [("a", "", "none")]),
        ({"a": [1, 2]}, {"b": True}, [("a", "[1, 2]", ""), ("b", "", "true")]),
        ("old", "new", [("value", "old", "new")]),
    ],
)
def test_any_stored_value_can_be_told(before: object, after: object, expected: list[tuple[str, str, str]]) -> None:
    told = action_page.differences(before, after)
    assert [(item.name, item.before, item.after) for item in told] == expected


def test_an_unknown_action_is_a_404(db: None, see: Get) -> None:
    assert "There is no action 99." in see("/actions/99/", status=404)


def test_an_unknown_filter_is_said_and_left_out(history: dict[str, Action], see: Get) -> None:
    text = see("/actions/?kidn=drain&kind=drain&since=2026-01-01")
    assert "The address asks for “kidn”, which this page does not know; did you mean kind?" in text
    assert "“since”, which this page does not know; did you mean from?" in text and "rack 4" in text


def test_a_search_without_words_and_a_name_nobody_has_are_said(history: dict[str, Action], see: Get) -> None:
    assert "Search: “--” has no letters or digits to look for." in see("/actions/?q=--")
    text = see("/actions/?actor=anna&group=tpu-1")
    assert "No action is by “anna”." in text and "about a group" not in text


def test_the_names_of_all_who_acted_are_offered_up_to_a_bound(
    history: dict[str, Action], sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offered() -> list[str]:
        page = sign_in("viewer").get("/actions/").content.decode()
        return re.findall(r'<option value="([^"]*)">', page.partition('<datalist id="actors">')[2].partition("</da")[0])

    assert offered() == ["ana", "iris", "slurm"]
    monkeypatch.setattr(actions_page, "ACTORS_OFFERED", 2)
    assert offered() == ["ana", "iris"]


def test_the_list_is_summed_up(drowned: None, see: Get) -> None:
    assert "5 actions: 1 " in see("/actions/") and "18 actions: 12 demand" in see("/actions/?routine=shown")
    assert "12 actions." in see("/actions/?kind=demand")
    assert "No actions." in see("/actions/?q=nosuchword")


def test_of_a_long_list_it_is_said_how_many_of_the_newest_were_counted_whatever_is_hidden(
    drowned: None, see: Get, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions_page, "COUNTED", 4)
    assert "More than 4 actions. The newest 4: 1 " in see("/actions/")
    assert "routine demand updates and deferrals by a rate hidden · show" in see("/actions/")
    assert "More than 4 actions." in see("/actions/?kind=demand")
    monkeypatch.setattr(actions_page, "COUNTED", 5)
    assert "5 actions: 1 " in see("/actions/")


def test_the_oldest_page_and_the_newest_are_one_step_away(db: None, now: datetime, sign_in: SignIn) -> None:
    Action.objects.bulk_create(Action(at=now, kind="scale_up", reason=f"n{n}") for n in range(130))
    page = sign_in("viewer").get("/actions/").content.decode()
    oldest = re.search(r'rel="last" href="([^"]+)"', page)
    assert oldest is not None and 'rel="first"' not in page
    last = sign_in("viewer").get(f"/actions/{oldest[1]}").content.decode()
    assert "n0<" in last.replace("\n", "") and 'rel="first" href="?"' in last and 'rel="last"' not in last


def test_an_export_of_the_same_filters_is_linked(history: dict[str, Action], sign_in: SignIn) -> None:
    page = sign_in("viewer").get("/actions/?kind=drain&q=rack&before=0").content.decode()
    assert 'href="/actions/export.csv?q=rack&amp;kind=drain"' in page and "/actions/export.json?q=rack" in page
