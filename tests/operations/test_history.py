"""Actions are written with their change, in order, with ids, and published."""

from datetime import timedelta

import pytest
from django.db import transaction

from scaling.clock import FrozenClock
from scaling.history import SYSTEM, Actor, NewAction, record, record_many
from scaling.models import Action, ActorKind, Event, Source

pytestmark = pytest.mark.django_db


def test_an_action_says_who_what_where_from_and_why(actor: Actor, frozen_clock: FrozenClock) -> None:
    row = record("drain", actor=actor, group="g", reason="maintenance", before={"a": 1}, after={"a": 2})
    stored = Action.objects.get(pk=row.pk)
    assert (stored.actor_kind, stored.actor, stored.source) == (ActorKind.USER, actor.name, Source.PAGE)
    assert (stored.kind, stored.group, stored.reason, stored.outcome) == ("drain", "g", "maintenance", "ok")
    assert (stored.before, stored.after) == ({"a": 1}, {"a": 2})
    assert stored.at == frozen_clock()


def test_an_action_of_iris_itself_is_by_the_system_and_the_cycle() -> None:
    row = record("scale_up", group="g", cycle=7)
    assert (row.actor_kind, row.actor, row.source, row.cycle) == (SYSTEM.kind, "iris", Source.CYCLE, 7)


def test_many_actions_come_back_in_order_with_their_ids() -> None:
    rows = record_many([NewAction("scale_up", slice=f"s{number}") for number in range(700)])
    assert [row.slice for row in rows] == [f"s{number}" for number in range(700)]
    ids = [row.pk for row in rows]
    assert ids == sorted(set(ids))
    assert Action.objects.get(pk=ids[650]).slice == "s650"


def test_no_actions_write_nothing() -> None:
    assert record_many([]) == []
    assert not Event.objects.exists()


def test_an_effect_is_linked_to_its_cause_given_as_row_or_id() -> None:
    cause = record("set_limits", group="g")
    effects = record_many([NewAction("marker_cleared", cause=cause), NewAction("marker_cleared", cause=cause.pk)])
    assert [effect.cause_id for effect in effects] == [cause.pk, cause.pk]


def test_each_action_is_published_and_an_effect_also_to_its_cause() -> None:
    cause = record("set_limits", group="g")
    effect = record("marker_cleared", cause=cause)
    told = list(Event.objects.values_list("topic", "kind", "payload"))
    assert told == [
        ("actions", "action", {"id": cause.pk}),
        ("actions", "action", {"id": effect.pk}),
        (f"action:{cause.pk}", "effect", {"id": effect.pk}),
    ]


def test_an_action_may_be_dated_by_its_writer(frozen_clock: FrozenClock) -> None:
    earlier = frozen_clock() - timedelta(minutes=5)
    assert record("slice_ready", at=earlier).at == earlier


def test_an_action_is_gone_with_the_change_that_failed() -> None:
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        record("drain", group="g")
        _ = 1 / 0
    assert not Action.objects.exists()
    assert not Event.objects.exists()
