"""Many rows with one statement: stored as Django itself stores them."""

import gc
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scaling import prepared
from scaling.clock import FrozenClock
from scaling.loops.replicas.collecting import collected_afterwards
from scaling.models import Deployment, Hint, ReplicaDecision
from scaling.testing.builders import make_job


@pytest.fixture
def deployment(db: None, frozen_clock: FrozenClock) -> Deployment:
    return Deployment.objects.create(deployment_id="d", first_seen_at=frozen_clock(), min_replicas=1, max_replicas=4)


def decision(deployment: Deployment, at: FrozenClock) -> ReplicaDecision:
    record = {"words": "it's “so”", "ratio": 1.25, "limits": [["window", 3, None]]}
    return ReplicaDecision(deployment=deployment, at=at(), reason="50 % of 100", healthy=None, add=2, record=record)


def test_an_inserted_row_is_what_create_would_have_stored(deployment: Deployment, frozen_clock: FrozenClock) -> None:
    prepared.insert([decision(deployment, frozen_clock)])
    decision(deployment, frozen_clock).save()
    one, other = ReplicaDecision.objects.order_by("pk").values()
    assert one.pop("id") != other.pop("id")
    assert one == other


def test_a_thousand_rows_are_one_statement(deployment: Deployment, frozen_clock: FrozenClock) -> None:
    with CaptureQueriesContext(connection) as queries:
        prepared.insert([decision(deployment, frozen_clock) for _ in range(1000)])
    assert (len(queries), ReplicaDecision.objects.count()) == (1, 1000)


def test_an_update_writes_the_named_fields_only(deployment: Deployment, frozen_clock: FrozenClock) -> None:
    deployment.max_replicas, deployment.last_request_at, deployment.name = 9, frozen_clock(), "unsaved"
    prepared.update([deployment], ["max_replicas", "last_request_at"])
    stored = Deployment.objects.get()
    assert (stored.max_replicas, stored.last_request_at, stored.name) == (9, frozen_clock(), "")


def test_nothing_to_write_is_no_statement(db: None) -> None:
    with CaptureQueriesContext(connection) as queries:
        prepared.insert([])
        prepared.update([], ["name"])
    assert not queries.captured_queries


def test_the_garbage_collector_is_back_after_a_tick_that_fails() -> None:
    with pytest.raises(ValueError, match="tick"), collected_afterwards():
        assert not gc.isenabled()
        raise ValueError("tick")
    assert gc.isenabled()


@pytest.mark.django_db
def test_an_upsert_writes_what_is_there_and_inserts_what_is_not() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    first, second = make_job(now, "one"), make_job(now, "two")
    blocks = [{"group": "g", "outcome": "STOCKOUT", "until": None}]
    names = ("job", "code", "reason", "blocked_by", "since")
    prepared.upsert(Hint, names, [(first.pk, "tier_blocked", "tier_blocked: a", blocks, now)])
    later = now + timedelta(seconds=1)
    prepared.upsert(Hint, names, [(pk, "scaling_up", "scaling_up: b", blocks, later) for pk in (first.pk, second.pk)])
    assert [(row.job_id, row.code, row.blocked_by, row.since) for row in Hint.objects.order_by("pk")] == [
        (first.pk, "scaling_up", blocks, later),
        (second.pk, "scaling_up", blocks, later),
    ]
