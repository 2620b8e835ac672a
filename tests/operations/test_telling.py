"""Acts told as sentences: fields by their labels, times as times, no codes of the storage."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from scaling.models import Action
from scaling.operations.telling import ago, told, value_words

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
