"""The canonical form is the same whichever way a database keeps a value."""

import json
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling.audit.canonical import COLUMNS, FORM, canonical
from scaling.history import record
from scaling.models import Action

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def kept_as_decimals(value: object) -> object:
    """What PostgreSQL's jsonb gives back: numbers by their decimals, keys in another order."""

    def number(text: str) -> object:
        plain = format(Decimal(text), "f")
        return float(plain) if "." in plain else int(plain)

    if isinstance(value, dict):
        value = dict(reversed(value.items()))
    return json.loads(json.dumps(value), parse_float=number)


@given(VALUES)
def test_numbers_and_keys_are_written_by_value(value: object) -> None:
    assert canonical([value]) == canonical([kept_as_decimals(value)])


@pytest.mark.parametrize(
    ("value", "expected"), [(1.0, b"[1]"), (1e16, b"[10000000000000000]"), (0.1, b"[0.1]"), (-0.0, b"[0]"),
                            ({"b": 1, "a": "ä"}, b'[{"a":"\\u00e4","b":1}]'), (True, b"[true]"), (None, b"[null]")]
)  # fmt: skip
def test_the_form_is_documented_by_example(value: object, expected: bytes) -> None:
    assert canonical([value]) == expected


def test_a_time_is_written_in_utc_whatever_its_zone() -> None:
    at = datetime(2026, 1, 1, 14, 30, tzinfo=timezone(timedelta(hours=2)))
    assert canonical([at]) == canonical([at.astimezone(UTC)]) == b'["2026-01-01T12:30:00.000000Z"]'


def test_every_stored_column_is_in_the_form() -> None:
    assert set(COLUMNS[FORM]) == {column.attname for column in Action._meta.concrete_fields}


@pytest.mark.django_db
def test_a_row_reads_the_same_as_it_was_written() -> None:
    odd = {"whole": 1e22, "small": 1e-7, "half": 0.5, "text": "ä\u2028", "none": None, "list": [1, 2.0]}
    written = record("set_limits", before=odd, after=odd, reason='"quoted"\\ \n')
    read = Action.objects.values_list(*COLUMNS[FORM]).get(pk=written.pk)
    assert canonical(read) == canonical([getattr(written, name) for name in COLUMNS[FORM]])
