"""Quota pools, platforms' modes, and the one stop control."""

import pytest

from scaling import operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Installation, Platform, QuotaPool
from scaling.testing.builders import make_group, make_installation, make_platform
from tests.operations.support import last_action, nothing_happened, topics

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool(frozen_clock: FrozenClock) -> QuotaPool:
    found = QuotaPool.objects.create(name="v5e/us-west4-a", limit=128, learned_limit=64, learned_at=frozen_clock())
    make_group("g", quota_pool=found)
    return found


def test_an_edit_of_a_pool_forgets_what_the_platform_taught(actor: Actor, pool: QuotaPool) -> None:
    operations.set_quota_pool(actor, pool.name, 1, {"limit": 256}, "contract")
    pool.refresh_from_db()
    assert (pool.limit, pool.learned_limit, pool.learned_at, pool.version) == (256, None, None, 2)
    action = last_action()
    assert (action.kind, action.target, action.reason) == ("set_quota", "quota pool v5e/us-west4-a", "contract")
    assert action.before is not None
    assert (action.before["limit"], action.before["learned_limit"]) == (128, 64)
    assert "group:g" in topics()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"limit": -1}, "limit: expected a whole number of at least 0, got -1"),
        ({"limits": 1}, r'limits: unknown field; did you mean "limit"\?'),
        ({"limit": 128}, "nothing to change"),
        ({}, "nothing to change"),
        ({"quota_metric": 5}, "quota_metric: expected text, got 5"),
    ],
)
def test_a_wrong_or_empty_edit_of_a_pool_is_refused(
    actor: Actor, pool: QuotaPool, changes: dict[str, object], sentence: str
) -> None:
    with pytest.raises(operations.OperationRefused, match=sentence):
        operations.set_quota_pool(actor, pool.name, 1, changes)
    assert nothing_happened()


def test_the_second_editor_of_a_pool_is_told(actor: Actor, pool: QuotaPool) -> None:
    operations.set_quota_pool(Actor.user("ben"), pool.name, 1, {"limit": 1})
    with pytest.raises(operations.StaleVersion, match=r"ben changed Limit, devices from 128 to 1, .*just now"):
        operations.set_quota_pool(actor, pool.name, 1, {"limit": 2})


def test_a_learned_limit_is_forgotten_once(actor: Actor, pool: QuotaPool) -> None:
    operations.forget_learned_limit(actor, pool.name, "raised by the vendor")
    pool.refresh_from_db()
    assert (pool.limit, pool.learned_limit) == (128, None)
    assert last_action().kind == "forget_learned_limit"
    with pytest.raises(operations.OperationRefused, match="has no learned limit to forget"):
        operations.forget_learned_limit(actor, pool.name)


def test_a_platform_is_switched_to_act(actor: Actor) -> None:
    make_platform("gcp", mode="observe")
    operations.set_platform_mode(actor, "gcp", "act", "reviewed for a week")
    assert Platform.objects.get(name="gcp").mode == "act"
    action = last_action()
    assert (action.kind, action.target, action.before, action.after) == (
        "set_platform_mode",
        "platform gcp",
        {"mode": "observe"},
        {"mode": "act"},
    )
    assert {"platforms", "overview"} <= topics()


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("observe", "gcp is in mode observe already"),
        ("acting", 'mode: expected one of observe, act, got "acting"'),
    ],
)
def test_a_mode_that_is_no_change_or_no_word_is_refused(actor: Actor, mode: str, sentence: str) -> None:
    make_platform("gcp", mode="observe")
    with pytest.raises(operations.OperationRefused, match=sentence):
        operations.set_platform_mode(actor, "gcp", mode)
    assert nothing_happened()


def test_a_halt_stops_everything_until_it_is_lifted(actor: Actor, frozen_clock: FrozenClock) -> None:
    make_installation()
    operations.halt(actor, "bill shock")
    stored = Installation.objects.get()
    assert (stored.halted_since, stored.halted_by, stored.halted_reason) == (frozen_clock(), "ada", "bill shock")
    assert last_action().kind == "halt"
    with pytest.raises(operations.OperationRefused, match="halted already, since 2026-01-01 12:00:00Z by ada"):
        operations.halt(actor)
    operations.unhalt(actor, "paid")
    assert Installation.objects.get().halted_since is None
    with pytest.raises(operations.OperationRefused, match="not halted"):
        operations.unhalt(actor)


def test_an_installation_that_is_not_set_up_cannot_be_halted(actor: Actor) -> None:
    with pytest.raises(operations.NotFound, match="not set up yet"):
        operations.halt(actor)
