"""The page of one action: the whole tree, what changed, what it cost, and its seal."""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from django.test import Client

from iris_web.pages import action_tree
from iris_web.pages.action_diff import differences, unchanged
from iris_web.pages.action_tree import read_tree
from scaling import operations
from scaling.audit import sealing
from scaling.history import Actor
from scaling.models import Action, Group
from scaling.testing import builders
from scaling.testing.sample_deployments import make_deployment
from tests.pages.conftest import Get

SignIn = Callable[[str], Client]


def test_the_whole_tree_is_shown(db: None, now: datetime, see: Get) -> None:
    root = builders.make_action("drain", now, group="g", actor_kind="user", actor="ana")
    cause = root
    for kind in ("scale_down", "slice_lost", "marker_set", "halt"):
        cause = builders.make_action(kind, now, cause=cause)
    text = see(f"/actions/{root.pk}/")
    positions = [text.index(word) for word in ("scale down", "slice lost", "marker set", "halt 2026")]
    assert positions == sorted(positions)


def test_a_tree_is_cut_with_how_many_more_there_are(
    db: None, now: datetime, see: Get, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(action_tree, "EFFECTS_SHOWN", 5)
    root = builders.make_action("drain", now, group="g")
    first = builders.make_action("scale_down", now, cause=root)
    Action.objects.bulk_create(Action(at=now, kind="scale_down", cause=root) for _ in range(2))
    Action.objects.bulk_create(Action(at=now, kind="slice_swept", cause=first) for _ in range(9))
    tree = read_tree(root.pk)
    assert len(tree.actions) == 5 and tree.more == 0
    assert len(tree.effects[0].effects) == 2 and tree.effects[0].more == 7
    assert "7 more" in see(f"/actions/{root.pk}/")
    assert "9 actions" in see(f"/actions/?cause={first.pk}")


def test_a_deep_chain_ends_with_how_many_follow(db: None, now: datetime) -> None:
    chain = [builders.make_action("drain", now)]
    for _ in range(action_tree.DEEPEST + 2):
        chain.append(builders.make_action("scale_down", now, cause=chain[-1]))
    tree = read_tree(chain[0].pk)
    assert len(tree.actions) == action_tree.DEEPEST
    node = tree.effects[0]
    while node.effects:
        node = node.effects[0]
    assert node.more == 1


def test_a_difference_is_by_field_and_leaves_out_what_is_the_same() -> None:
    before = {"limits": {"max": 8, "min": 1}, "pool": "p", "gone": 1}
    after = {"limits": {"max": 12, "min": 1}, "pool": "p", "new": [1], "since": "2026-01-01T12:00:00.25+00:00"}
    told = [(one.name, one.before, one.after) for one in differences(before, after)]
    assert told == [
        ("gone", "1", ""), ("limits.max", "8", "12"), ("new", "", "[1]"), ("since", "", "2026-01-01 12:00:00Z")
    ]  # fmt: skip
    assert unchanged(before, after) == 2


def test_the_page_says_where_it_came_from_and_that_it_is_sealed(db: None, now: datetime, see: Get) -> None:
    row = builders.make_action("drain", now, group="g", actor_kind="user", actor="ana", source="shell")
    text = see(f"/actions/{row.pk}/")
    assert "ana user, from a shell" in text and "not yet within a minute" in text
    assert f"http://testserver/actions/{row.pk}/" in text
    sealing.seal_new(now)
    assert "Sealed seal 1 2026-01-01 12:00:00" in see(f"/actions/{row.pk}/")


def test_a_drain_says_what_it_cost_and_what_is_counted(db: None, now: datetime, see: Get) -> None:
    group = builders.make_group("v5p", price_per_slice_hour=Decimal("2.5"))
    ready = now - timedelta(hours=5)
    builders.make_slice(group, now, requested_at=ready, ready_at=ready)
    drain = builders.make_action("drain", now - timedelta(hours=2), group="v5p", actor_kind="user", actor="ana")
    text = see(f"/actions/{drain.pk}/")
    assert "8.0 device-hours of 1 slice, 5.00 USD at the price of their groups so far" in text
    assert "Counted: each slice it drained, from the drain until the slice ended" in text
    assert "8.0 device-hours of 1 slice" in see("/actions/?kind=drain&actor=ana")
    assert "device-hours" not in see("/actions/"), "a sum over everything says nothing"
    assert "Cost" not in see(f"/actions/{builders.make_action('set_quota', now, target='pool p').pk}/")


def test_a_cause_that_has_left_is_told(db: None, now: datetime, see: Get) -> None:
    row = builders.make_action("scale_down", now, cause_id=10_000)
    assert "Its cause, action 10000, has left into an archive." in see(f"/actions/{row.pk}/")


def test_a_person_who_gave_no_reason_is_answered_for_by_what_changed(db: None, now: datetime, see: Get) -> None:
    who = {"actor_kind": "user", "actor": "ana", "target": "deployment d"}
    builders.make_action("set_targets", now, before={"target_rps": None}, after={"target_rps": 5}, **who)
    builders.make_action("unlock_user", now, actor_kind="user", actor="ana", target="user bo")
    person = {"name": "cy", "email": "", "role": "operator", "is_active": True}
    builders.make_action("create_user", now, actor_kind="user", actor="ana", target="user cy", after=person)
    builders.make_action("scale", now, before={"replicas": 2}, after={"replicas": 5}, **who)
    text = see("/actions/")
    assert "Target requests per replica none → 5" in text and "user bo no reason given" in text
    assert "scaled it to 5; no reason given" in text and "user cy is active true; role operator ana" in text


def test_a_halt_is_told_in_words_and_not_by_keys_and_fields(db: None, now: datetime, see: Get) -> None:
    installation = builders.make_installation()
    ana = Actor.user("ana")
    operations.halt(ana)
    operations.unhalt(ana)
    halted = Action.objects.get(kind="halt")
    for path in ("/", "/actions/", "/search/?q=ana", f"/actions/{halted.pk}/"):
        text = see(path)
        assert "every platform" in text and installation.identity not in text, path
    text = see("/actions/")
    assert "halt every platform halted buying and releasing of slices; no reason given" in text
    assert "let buying and releasing of slices go on; no reason given" in text and "halted by" not in text


def test_the_answer_to_a_scaling_says_how_it_ended_in_every_list(db: None, now: datetime, see: Get) -> None:
    after = {"add": 2, "stop": ["d-1", "d-2", "d-3", "d-4"]}
    cause = builders.make_action("scale_replicas", now, target="deployment d", reason="+1", after=after)
    builders.make_action("scale_answer", now, target="deployment d", outcome="timeout", cause=cause)
    builders.make_action("scale_answer", now, target="deployment d", cause=cause)
    for path in ("/", "/actions/", f"/actions/{cause.pk}/"):
        text = see(path)
        assert "timed out" in text or "timeout" in text, path
        assert "no answer came in time; the call counts as done" in text, path
        assert "the Gateway accepted the call" in text, path
    assert "accepted the call: 2 replicas to add and d-1, d-2, d-3 and 1 more to remove" in see("/actions/")


def test_what_iris_did_without_a_reason_is_told_by_what_it_found(db: None, now: datetime, see: Get) -> None:
    builders.make_action("deployment_listed", now, target="deployment d", after={"min_replicas": 1, "max_replicas": 4})
    assert "Max replicas 4; Min replicas 1" in see("/actions/") and "no reason given" not in see("/actions/")


def test_the_settings_say_how_far_the_history_is_sealed(db: None, now: datetime, see: Get) -> None:
    row = builders.make_action("drain", now)
    assert "Sealed up to nothing yet" in see("/settings/")
    sealing.seal_new(now)
    text = see("/settings/")
    assert f"Sealed up to action {row.pk} seal 1" in text and "Not sealed yet nothing" in text
    assert "manage.py verify_actions" in text


def test_what_follows_from_a_changed_limit_is_told_as_untraced_with_all_that_came_since(
    db: None, now: datetime, see: Get, sign_in: SignIn
) -> None:
    at = now - timedelta(minutes=5)
    limits = builders.make_action(
        "set_limits", at, group="v5p", actor_kind="user", actor="ana", after={"max_slices": 8}
    )
    bought = builders.make_action("scale_up", now, group="v5p", reason="to keep buffer_slices warm")
    text = see(f"/actions/{limits.pk}/")
    assert "What follows from changed limits is not traced" in text and "Nothing has followed" not in text
    page = sign_in("viewer").get(f"/actions/{limits.pk}/").content.decode()
    assert 'href="/actions/?group=v5p&amp;from=2026-01-01T11%3A55%3A00">What happened to v5p since</a>' in page
    assert "scale up" in see("/actions/?group=v5p&from=2026-01-01T11:55:00")
    assert "the cycle asked for the slice to keep buffer slices warm." in see(f"/actions/{bought.pk}/")


def test_a_purchase_for_jobs_says_that_it_follows_from_their_demand(db: None, now: datetime, see: Get) -> None:
    jobs = [{"job": "slurm:a", "tasks": 2}, {"job": "ray:b", "tasks": 1}]
    row = builders.make_action("scale_up", now, group="g", job="a", target="source slurm", after={"jobs": jobs})
    assert "It follows from demand: a 2 tasks, b 1 task." in see(f"/actions/{row.pk}/")


def test_an_order_that_ended_by_itself_says_so_in_every_list_and_one_that_was_ended_before_does_not(
    group: Group, now: datetime, see: Get
) -> None:
    make_deployment("chat", now)
    at, over = now - timedelta(hours=1), now - timedelta(minutes=5)
    after = {"pause_since": at.isoformat(), "pause_until": over.isoformat()}
    who = {"actor_kind": "user", "actor": "ana", "reason": "rack", "after": after}
    resumed = builders.make_action("pause", at - timedelta(hours=2), target="deployment chat", **who)
    builders.make_action("resume", at - timedelta(hours=1), target="deployment chat", actor_kind="user", actor="ana")
    builders.make_action("pause", at, target="deployment chat", **who)
    builders.make_action("pause", at, group=group.name, **who)
    told = "ended by itself at 2026-01-01 11:55:00 UTC"
    for path in (
        "/actions/?group=tpu-v5-8",
        "/groups/tpu-v5-8/",
        "/actions/?target=deployment+chat",
        "/deployments/chat/",
    ):
        assert see(path).count(told) == 1, path
    assert "until 2026-01-01 11:55:00 UTC" in see("/actions/?target=deployment+chat")
    assert told not in see(f"/actions/{resumed.pk}/")
