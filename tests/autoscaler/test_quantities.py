"""Amounts as people write them."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling.autoscaler.quantities import (
    MAX_BYTES,
    duration_words,
    parse_bytes,
    parse_cores,
    parse_count,
    parse_devices,
    plain_number,
    size_words,
)

READERS = [parse_cores, parse_bytes, parse_count, parse_devices]


@pytest.mark.parametrize(
    ("text", "cores"),
    [("500m", 0.5), (2, 2.0), ("1.5", 1.5), (" 3 ", 3.0), ("0", 0.0), (0.25, 0.25), ("1e2", 100.0), (".5", 0.5)],
)
def test_cores_are_read(text: object, cores: float) -> None:
    assert parse_cores(text) == cores


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4GiB", 4 * 2**30),
        ("192GB", 192 * 10**9),
        ("7.68TB", 7_680_000_000_000),
        ("512Mi", 512 * 2**20),
        ("1G", 10**9),
        ("4gib", 4 * 2**30),
        ("4 GiB", 4 * 2**30),
        ("1k", 1000),
        ("1Ki", 1024),
        ("2E", 2 * 10**18) if MAX_BYTES > 2 * 10**18 else ("1Ei", 2**60),
        ("10B", 10),
        ("10 bytes", 10),
        (1024, 1024),
        ("1e3", 1000),
        (1024.0, 1024),
        ("0.1GiB", 107_374_183),
        (0, 0),
    ],
)
def test_bytes_are_read_with_binary_and_decimal_units(text: object, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize(("text", "count"), [(3, 3), ("3", 3), (3.0, 3), ("3.0", 3), (Decimal(4), 4), (0, 0)])
def test_counts_are_whole(text: object, count: int) -> None:
    assert parse_count(text) == count
    assert isinstance(parse_count(text), int)


def test_a_share_of_a_device_is_read() -> None:
    assert parse_devices("0.46") == 0.46


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "value",
    [
        -1, "-1", "-0.5", float("nan"), float("inf"), "nan", "inf", "Infinity", True, False, None, "", " ", "four",
        "4 XB", "4GiBs", "1,024", "1_000", "0x10", "--1", "1.2.3", "٤", [], {}, b"4", 10**400, 1e300, "9" * 5000,
        "1e999", "1e-", "+",
    ],
)  # fmt: skip
def test_what_is_no_amount_is_refused_in_one_sentence(reader: Callable[[object], object], value: object) -> None:
    with pytest.raises(ValueError) as refused:
        reader(value)
    text = str(refused.value)
    assert text.endswith(".") and "\n" not in text and len(text) < 250
    assert "expected" in text or "at most" in text


@pytest.mark.parametrize(
    ("reader", "value"),
    [
        (parse_cores, "4GiB"),
        (parse_bytes, "512m"),
        (parse_count, "500m"),
        (parse_count, 2.5),
        (parse_devices, "1G"),
        (parse_bytes, "2ZiB"),
    ],
)
def test_a_unit_of_another_kind_is_refused_by_name(reader: Callable[[object], object], value: object) -> None:
    with pytest.raises(ValueError, match=str(value)):
        reader(value)


def test_absurd_sizes_are_refused_with_the_largest_accepted() -> None:
    with pytest.raises(ValueError, match="at most 1,000,000 is accepted"):
        parse_cores(1_000_001)
    assert parse_bytes(MAX_BYTES) == MAX_BYTES


@given(st.integers(0, MAX_BYTES))
def test_plain_bytes_come_back_exactly(size: int) -> None:
    assert parse_bytes(size) == parse_bytes(str(size)) == parse_bytes(f"{size}B") == size


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    for reader in READERS:
        try:
            assert reader(text) >= 0
        except ValueError as refused:
            assert str(refused).endswith(".")


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0, "0 B"), (512, "512 B"), (64 * 2**30, "64 GiB"), (1.5 * 2**40, "1.5 TiB"), (1536 * 10**9, "1.4 TiB")],
)
def test_a_size_is_said_in_the_units_people_use(amount: float, words: str) -> None:
    assert size_words(amount) == words


def test_a_number_is_said_without_an_exponent() -> None:
    assert [plain_number(n) for n in (8, 0.46, 2.5, 1_000_000)] == ["8", "0.46", "2.5", "1,000,000"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (0.5, "0.5 s"), (29.9841, "30 s"), (59.6, "1 min"), (130.262, "2 min 10 s"), (900, "15 min"),
     (3600, "1 h"), (3605, "1 h"), (93_600, "1 d 2 h"), (-3, "0 s")],
)  # fmt: skip
def test_durations_are_told_in_their_two_largest_units(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words
