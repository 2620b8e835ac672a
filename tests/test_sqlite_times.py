"""Times out of SQLite: the quicker way reads what Django's own way reads, the odd ones included."""

import pytest
from django.db import connection
from django.db.backends.sqlite3 import base as _loaded_first  # noqa: F401 - what `operations` imports in a circle
from django.db.backends.sqlite3 import operations
from django.utils.dateparse import parse_datetime

from scaling.sqlite import base

FRACTIONS = ("", ".1", ".12", ".123", ".1234", ".12345", ".123456", ".1234567")
TEXTS = [
    *(f"2026-05-31 18:30:05{fraction}" for fraction in FRACTIONS),
    *(f"2026-05-31 18:30:05.5{offset}" for offset in ("Z", "+00:00", "+02:00", "-0330", "+14")),
    "2026-05-31T18:30:05",
    "2026-05-31 18:30",
    "2026-05-31 8:30:05",
    "2026-05-31 18",
    "2026-05-31",
    "20260531",
    "0001-01-01 00:00:00",
    "9999-12-31 23:59:59.999999",
    "no time",
    "",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_stored_time_reads_as_django_reads_it(text: str) -> None:
    ours = base.DatabaseOperations(connection).convert_datetimefield_value(base._read(text.encode()), None, connection)
    django = operations.DatabaseOperations(connection)
    theirs = django.convert_datetimefield_value(parse_datetime(text), None, connection)
    assert ours == theirs
    if ours is not None:
        assert ours.utcoffset() == theirs.utcoffset()


def test_what_no_calendar_has_is_refused_as_django_does() -> None:
    for read in (parse_datetime, lambda text: base._read(text.encode())):
        with pytest.raises(ValueError, match="day is out of range"):
            read("2026-02-30 8:30:05")
