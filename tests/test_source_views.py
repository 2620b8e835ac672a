"""How the instances together see a source."""

from datetime import datetime
from typing import Any

import pytest

from scaling import clock, source_views
from scaling.clock import FrozenClock
from scaling.loops.replicas import source_states
from scaling.models import Event, SourceState
from scaling.testing.builders import before
from scaling.testing.sample_deployments import make_source

pytestmark = pytest.mark.django_db


@pytest.fixture
def now(frozen_clock: FrozenClock) -> datetime:
    return clock.now()


def test_two_instances_that_see_a_source_differently_keep_a_row_each_and_nothing_flickers(
    now: datetime, settings: Any
) -> None:
    for _ in range(3):
        for instance, trouble in (("east", ""), ("west", "timed out")):
            settings.IRIS_INSTANCE = instance
            source_states.note(source_states.GATEWAY, now, trouble)
    assert dict(SourceState.objects.values_list("instance", "trouble")) == {"east": "", "west": "timed out"}
    assert Event.objects.filter(topic="sources").count() == 2
    assert source_views.worst()["gateway"].instance == "west"


def test_the_longest_trouble_comes_first_then_who_asked_last(now: datetime) -> None:
    make_source("gateway", now, instance="a", asked_at=before(now, 9))
    make_source("gateway", now, instance="b", asked_at=before(now, 2))
    make_source("gateway", now, "refused", instance="c", since=before(now, 10))
    make_source("gateway", now, "timed out", instance="d", since=before(now, 90))
    assert [row.instance for row in source_views.by_source()["gateway"]] == ["d", "c", "b", "a"]


def test_an_instance_that_asked_much_earlier_than_the_latest_is_gone(now: datetime) -> None:
    make_source("prometheus", now, "refused", instance="gone", asked_at=before(now, 121))
    assert source_views.worst()["prometheus"].trouble == "refused"
    make_source("prometheus", now, instance="here", asked_at=now)
    assert source_views.worst()["prometheus"].trouble == ""
