"""Numbers and the secret in the configuration: bounded on both sides, and refused in one sentence."""

import secrets
from datetime import UTC, datetime, timedelta

import pytest

from iris_web import secret_key
from iris_web.number_settings import BOUNDS, number


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("text", ["1e99", "1e400", "-1", "nan", "inf", "\u0663", "1_0", "0x10", "9" * 40, "1 2"])
def test_what_no_number_setting_can_mean_names_the_variable_and_its_bounds(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name}: expected a (whole )?number from [0-9.]+ to [0-9,]+, got '"):
        number({name: text}, name)


def test_both_bounds_may_be_meant_and_the_default_lies_between_them() -> None:
    for name, bounds in BOUNDS.items():
        for value in (bounds.least, bounds.default, bounds.most):
            assert number({name: f" {value} "}, name) == value
        assert number({}, name) == bounds.default
    assert number({}, "IRIS_WORKERS", 4) == 4


def test_a_count_is_a_whole_number() -> None:
    with pytest.raises(ValueError, match=r"^IRIS_WORKERS: expected a whole number from 1 to 64, got '2\.5'$"):
        number({"IRIS_WORKERS": "2.5"}, "IRIS_WORKERS")


def test_the_longest_retention_is_still_a_date() -> None:
    longest = max(bounds.most for name, bounds in BOUNDS.items() if name.endswith("_DAYS"))
    assert datetime(2026, 1, 1, tzinfo=UTC) - timedelta(days=longest) > datetime(1900, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("key", ["x", "x" * 50, "abcdefgh" * 3, "ab" * 40])
def test_a_secret_that_can_be_guessed_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(
        ValueError, match=r"^expected at least 32 characters, 8 of them different, .*token_urlsafe"
    ) as told:
        secret_key.check(key)
    assert len(key) < 2 or key not in str(told.value)


def test_secrets_made_as_the_sentence_says_are_taken() -> None:
    secret_key.check(secrets.token_urlsafe(50))
    secret_key.check(secrets.token_hex(32))
