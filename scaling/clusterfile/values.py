"""The kinds of values in a cluster file: each reads one value, or says in a sentence what was expected."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, datetime

from scaling.autoscaler.quantities import parse_bytes, parse_cores, parse_count
from scaling.clusterfile.sections import ClusterFileError, Section, shown

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MAX_MILLISECONDS = 31_536_000_000
_MAX_SLICES = 1_000_000
_MAX_PRIORITY = 1_000_000
_MAX_SETTINGS = 1_000
_MAX_DEPTH = 8


def text(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > 200 or not value.isprintable():
        raise ValueError(f"expected a text of one line, got {shown(value)}")
    return value.strip()


def name(value: object) -> str:
    """A name that becomes part of a group's name."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError(f"expected a name of letters, digits, dots, dashes and underscores, got {shown(value)}")
    return value


def zones(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"expected a list of zones, got {shown(value)}")
    found = tuple(name(zone) for zone in value)
    twice = [zone for zone, times in Counter(found).items() if times > 1]
    if twice:
        raise ValueError(f"expected each zone once, {twice[0]} is there twice")
    return found


def slices(value: object) -> int:
    return _bounded(parse_count(value), _MAX_SLICES, value)


def machines(value: object) -> int:
    count = _bounded(parse_count(value), 100_000, value)
    if count < 1:
        raise ValueError(f"expected a whole number of at least 1, got {shown(value)}")
    return count


def devices(value: object) -> int:
    return _bounded(parse_count(value), 10_000, value)


def priority(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _MAX_PRIORITY:
        raise ValueError(f"expected a whole number between -1,000,000 and 1,000,000, got {shown(value)}")
    return value


def duration(value: object) -> float:
    """Seconds of `{milliseconds: N}`."""
    if not isinstance(value, Mapping) or list(value) != ["milliseconds"]:
        raise ValueError(f"expected a duration such as {{milliseconds: 300000}}, got {shown(value)}")
    milliseconds = value["milliseconds"]
    known = isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool)
    if not known or not 0 <= milliseconds <= _MAX_MILLISECONDS:
        raise ValueError(f"expected milliseconds between 0 and a year, got {shown(milliseconds)}")
    return float(milliseconds) / 1000


def period(value: object) -> float:
    """A period of the cycle, within the bounds of IRIS_CYCLE_SECONDS."""
    seconds = duration(value)
    if not 0.5 <= seconds <= 3_600:
        raise ValueError(f"expected milliseconds between 500 and an hour (3,600,000), got {shown(value)}")
    return seconds


def attributes(value: object) -> dict[str, str]:
    """Labels: names to texts; numbers and booleans are written out."""
    if not isinstance(value, Mapping) or len(value) > 100:
        raise ValueError(f"expected a mapping of at most 100 labels, got {shown(value)}")
    return {name(key): _label(key, label) for key, label in value.items()}


def _label(key: str, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    written = str(value) if isinstance(value, str | float) or (isinstance(value, int) and abs(value) < 10**60) else "\n"
    if len(written) > 200 or not written.isprintable():
        raise ValueError(f"expected a text for the label {key}, got {shown(value)}")
    return written


def settings(section: Section) -> dict[str, object]:
    """A platform's own keys, carried as they are: plain data that can be stored as JSON, at most 1,000 values.

    A YAML file can name one value many times over; the bound is on what that would come to.
    """
    budget = iter(range(_MAX_SETTINGS))
    try:
        return {str(key): _plain(section.raw(key), 0, budget) for key in section}
    except ValueError as error:
        raise ClusterFileError(section.path, str(error)) from None


def _plain(value: object, depth: int, budget: Iterator[int]) -> object:
    if depth > _MAX_DEPTH or next(budget, None) is None:
        raise ValueError(f"expected at most {_MAX_SETTINGS:,} values, nested at most {_MAX_DEPTH} deep")
    if isinstance(value, Mapping):
        return {str(key): _plain(each, depth + 1, budget) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, depth + 1, budget) for each in value]
    if isinstance(value, date | datetime):
        return value.isoformat()
    if value is None or isinstance(value, bool) or (isinstance(value, str) and "\x00" not in value):
        return value
    if isinstance(value, int | float) and math.isfinite(value) and abs(value) < 10**60:
        return value
    raise ValueError(f"expected plain texts, numbers and lists, got {shown(value)}")


cores = parse_cores
size = parse_bytes


def _bounded(count: int, largest: int, value: object) -> int:
    if count > largest:
        raise ValueError(f"expected at most {largest:,}, got {shown(value)}")
    return count
