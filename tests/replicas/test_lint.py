"""Settings that cannot do what they promise are told."""

import pytest

from scaling.replicas.lint import LINT_RULES, Surroundings, lint
from tests.replicas.support import deployment

AROUND = Surroundings(last_bucket_ms=10_000, warmup_seconds=60, rate_window_seconds=60, scales_to_zero=True)


@pytest.mark.parametrize(
    ("settings", "code", "words"),
    [
        ({"target_latency_p95_ms": 10_001}, "target_above_buckets", "10000 ms"),
        ({"cooldown_seconds": 119}, "short_cooldown", "120 s"),
        ({"min_replicas": 11}, "min_above_max", "the maximum wins"),
        ({"min_replicas": 1}, "zero_with_minimum", "it is 1"),
        ({"target_latency_p95_ms": 0}, "no_targets", "target"),
    ],
)
def test_each_rule_tells_its_finding(settings: dict[str, object], code: str, words: str) -> None:
    found = {finding.code: finding.sentence for finding in lint(deployment(**settings), AROUND)}
    assert words in found[code]
    assert set(found) <= {code, "zero_with_minimum"}


def test_sound_settings_have_no_finding_edges_included() -> None:
    sound = deployment(min_replicas=0, target_latency_p95_ms=10_000, cooldown_seconds=120)
    assert lint(sound, AROUND) == ()


def test_what_is_not_known_is_not_judged() -> None:
    assert lint(deployment(target_latency_p95_ms=1e9, cooldown_seconds=0, min_replicas=1)) == ()


def test_every_rule_has_its_own_code() -> None:
    assert len({rule.code for rule in LINT_RULES}) == len(LINT_RULES)
