"""Amounts and times as people read them."""

import re
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.conf import LazySettings

from iris_web.pages import prices, words


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (0, "0"), (36864, "36,864"), (1.5, "1.5"), (2.0, "2"), (1234.5, "1,234.5")],
)
def test_counts_have_separators(value: float | None, text: str) -> None:
    assert words.number(value) == text


@pytest.mark.parametrize(
    ("amount", "text"), [(0, "0 B"), (1024, "1 KiB"), (448 * 10**9, "417.2 GiB"), (2**50, "1024 TiB")]
)
def test_bytes_are_told_in_binary_units(amount: int, text: str) -> None:
    assert words.size(amount) == text


@pytest.mark.parametrize(
    ("count", "kind", "text"),
    [(1, "tpu", "1 chip"), (8, "gpu", "8 GPUs"), (1, "cpu", "1 worker"), (3, "abacus", "3 workers")],
)
def test_devices_have_their_own_word(count: int, kind: str, text: str) -> None:
    assert words.devices(count, kind) == text


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-01-01T12:00:00+00:00", NOON),
        ("2026-01-01T12:00:00", NOON),
        (NOON.timestamp(), NOON),
        (None, None),
        ("", None),
        ("soon", None),
        (True, None),
        (1e30, None),
        ([], None),
    ],
)
def test_a_stored_time_is_read_in_either_form_and_nothing_breaks_a_page(value: object, moment: datetime | None) -> None:
    assert words.moment(value) == moment


def test_prices_and_sums_name_their_currency(settings: LazySettings) -> None:
    settings.IRIS_CURRENCY = "EUR"
    told = [prices.price(Decimal(text)) for text in ("2.5", "1204", "0.0004")]
    assert told == ["2.50 EUR", "1,204.00 EUR", "0.0004 EUR"]
    assert [prices.money(Decimal(text)) for text in ("5", "0.004")] == ["5.00 EUR", "less than 0.01 EUR"]


def test_no_line_of_a_page_begins_with_a_dot_that_parts_two_things(settings: LazySettings) -> None:
    """The dot is tied to what stands before it; a space before it could end the line."""
    for path in (settings.BASE_DIR / "templates/partials").glob("*.html"):
        assert not re.search(r"[\s>]·(?=\s)", path.read_text()), path.name
