"""A preview of a deployment's edit says what its next tick does with it, replica by replica."""

from datetime import datetime

import pytest

from scaling import operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Deployment
from scaling.previews.replicas import tick_preview
from scaling.testing.sample_deployments import Scene, make_deployment, tick

pytestmark = pytest.mark.django_db


@pytest.fixture
def now(frozen_clock: FrozenClock) -> datetime:
    return frozen_clock()


@pytest.fixture
def chat(now: datetime) -> Deployment:
    """Four healthy replicas at ease, known for long enough that one could go."""
    row = make_deployment("chat", now)
    tick(row, now, Scene(healthy=4, p95=450, rps=38, window=((310, 4),)))
    return row


def test_a_stricter_target_adds_replicas_as_the_next_tick_then_does(chat: Deployment, now: datetime) -> None:
    found = tick_preview(chat, {"target_latency_p95_ms": 225.0})
    assert found is not None
    assert (found.add_before, found.desired_before) == (0, 4)
    assert found.add > 0 and found.desired == 8
    assert found.scope == (f"replicas=+{found.add}",)
    operations.edit_deployment(Actor.user("ada"), "chat", 1, {"target_latency_p95_ms": 225.0})
    chat.refresh_from_db()
    assert tick(chat, now, Scene(healthy=4, p95=450, rps=38, window=((310, 4),))).add == found.add


def test_a_lower_maximum_names_the_replica_that_goes_first(chat: Deployment) -> None:
    found = tick_preview(chat, {"max_replicas": 2})
    assert found is not None and found.stop == ("healthy-1",) == found.scope
    assert not found.is_same and found.reason


def test_a_higher_minimum_adds_up_to_it(chat: Deployment) -> None:
    found = tick_preview(chat, {"min_replicas": 6})
    assert found is not None and found.add == 2


def test_what_makes_no_difference_is_told_as_none(chat: Deployment) -> None:
    found = tick_preview(chat, {"max_replicas": 9})
    assert found is not None and found.is_same and found.scope == ()


def test_without_knowledge_of_its_replicas_nothing_is_foretold(chat: Deployment, now: datetime) -> None:
    tick(chat, now, Scene(listed=False))
    assert tick_preview(chat, {"max_replicas": 2}) is None
    assert tick_preview(make_deployment("new", now), {"max_replicas": 2}) is None
