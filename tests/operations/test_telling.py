"""Acts told as sentences: fields by their labels, times as times, no codes of the storage."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from scaling import operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Action, Notice, NoticeChannel, Platform, QuotaPool
from scaling.operations import StaleVersion
from scaling.operations.changes import check_version
from scaling.operations.telling import ago, capital, told, value_words
from scaling.testing import builders

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
UNTIL = "2026-01-01T13:00:00.262986+00:00"


@pytest.mark.parametrize(
    ("kind", "before", "after", "sentence"),
    [
        ("pause", {"pause_since": None}, {"pause_since": UNTIL, "pause_by": "ben"}, "paused it 3 s ago"),
        ("pause", {"pause_since": None}, {"pause_since": UNTIL, "pause_until": UNTIL},
         "paused it until 2026-01-01 13:00:00Z, 3 s ago"),
        ("pause", {"pause_until": None}, {"pause_until": UNTIL},
         "moved the end of its pause to 2026-01-01 13:00:00Z, 3 s ago"),
        ("pause", {}, {"pause_direction": "up", "pause_since": UNTIL}, "paused it (up) 3 s ago"),
        ("undrain", {"drain_since": UNTIL}, {"drain_since": None}, "ended its drain 3 s ago"),
        ("set_limits", {"max_slices": 8, "quota_pool": None}, {"max_slices": 12, "quota_pool": "p"},
         "changed Max slices from 8 to 12, Quota pool from none to p, 3 s ago"),
        ("scale", {"replicas": 1}, {"replicas": 4}, "scaled it to 4, 3 s ago"),
        ("create_user", {}, {}, "changed it 3 s ago"),
    ],
)  # fmt: skip
def test_an_act_is_a_sentence(kind: str, before: dict[str, Any], after: dict[str, Any], sentence: str) -> None:
    act = Action(kind=kind, actor="ben", at=NOW - timedelta(seconds=3), before=before, after=after)
    assert told(act, NOW) == f"ben {sentence}"
    act.reason = "flaky zone"
    assert told(act, NOW) == f"ben {sentence}: flaky zone"


def test_what_is_long_ago_has_its_time() -> None:
    assert ago(NOW - timedelta(minutes=5), NOW) == "5 min ago"
    assert ago(NOW - timedelta(days=2), NOW) == "at 2025-12-30 12:00:00Z"


def test_a_value_is_shown_without_quotes() -> None:
    assert [value_words(one) for one in (None, "", 3, "v5e pool", True)] == ["none", "none", "3", "v5e pool", "true"]


@pytest.mark.django_db
def test_a_conflict_names_the_thing_in_peoples_words(frozen_clock: FrozenClock) -> None:
    """For every kind of row that two can change at once; of an identity or number nobody knows anything."""
    now, ben = frozen_clock(), Actor.user("ben")
    installation, platform = builders.make_installation(), builders.make_platform("gcp")
    marker = builders.make_marker(builders.make_group("g"), now)
    pool = QuotaPool.objects.create(name="v5e", limit=8)
    notice = Notice.objects.create(kind="loop_stalled", object="x", title="Loop stalled: x", since=now, opened_at=now)
    channel = NoticeChannel.objects.create(name="on-call", url="json://127.0.0.1:9/")
    operations.halt(ben, "fire drill")
    operations.set_platform_mode(ben, "gcp", "act" if platform.mode == Platform.Mode.OBSERVE else "observe")
    operations.acknowledge_marker(ben, marker.pk, "looking")
    operations.drain_group(ben, "g")
    operations.set_quota_pool(ben, "v5e", 1, {"limit": 16})
    operations.acknowledge_notice(ben, notice.pk, "mine")
    operations.set_channel(ben, channel.pk, 1, {"tell_over": False})
    sentences = []
    for row in (installation, platform, marker, marker.group, pool, notice, channel):
        row.refresh_from_db()
        with pytest.raises(StaleVersion) as conflict:
            check_version(row, 0)
        sentences.append(str(conflict.value).replace(" has changed since you looked at it", ""))
    assert sentences == [
        "the halt of buying and releasing of slices: ben halted buying and releasing of slices just now: fire drill",
        f"platform gcp: ben put it in mode {platform.mode} just now",
        "the stockout of g: ben acknowledged it just now: looking",
        "group g: ben drained it just now",
        "quota pool v5e: ben changed Limit, devices from 8 to 16, just now",
        'the notice "Loop stalled: x": ben acknowledged it just now: mine',
        "notice channel on-call: ben changed it just now",
    ]


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("nothing to change", "Nothing"),
        ("it's over", "It's"),
        ("expected: text", "Expected:"),
        ("tpu-v5p-32 has changed", "tpu-v5p-32"),
        ("chat/eu is paused", "chat/eu"),
        ("max_slices: unknown", "max_slices:"),
        ("jobs[1].id: expected text", "jobs[1].id:"),
        ("", ""),
    ],
)
def test_a_sentence_begins_with_a_capital_but_a_name_is_written_as_it_is(text: str, begins: str) -> None:
    assert capital(text).partition(" ")[0] == begins
