"""Prometheus' text format (0.0.4), for a hundred thousand samples at a time.

A client library makes objects of each sample before it writes it, which takes seconds for an installation of thousands
of groups and deployments; here a sample is its labels as they are written, and a number.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPED = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})

Value = float | datetime | None


class Kind(StrEnum):
    GAUGE = "gauge"
    COUNTER = "counter"


class Family(NamedTuple):
    """A metric with its samples: (labels as `labelled` writes them, "" for none; value). None is left out."""

    name: str
    kind: Kind
    help: str
    samples: Iterable[tuple[str, Value]]


def labelled(**labels: str) -> str:
    """Labels as a sample has them."""
    return f"{{{','.join([_label(name, value) for name, value in labels.items()])}}}"


@lru_cache(16_384)
def _label(name: str, value: str) -> str:
    """The same few thousand at each look."""
    return f'{name}="{value.translate(_ESCAPED)}"'


def gauge(name: str, text: str, samples: Iterable[tuple[str, Value]]) -> Family:
    return Family(name, Kind.GAUGE, text, samples)


def counter(name: str, text: str, samples: Iterable[tuple[str, Value]]) -> Family:
    """`name` as it is written, with its `_total`."""
    return Family(name, Kind.COUNTER, text, samples)


def one(value: Value) -> list[tuple[str, Value]]:
    """The samples of a metric without labels."""
    return [("", value)]


def exposed(families: Iterable[Family]) -> str:
    """All of them as one text."""
    return "".join(map(_family, families))


def _family(family: Family) -> str:
    name, kind, text, samples = family
    lines = [f"{name}{labels} {_WRITE[value.__class__](value)}\n" for labels, value in samples if value is not None]
    return f"# HELP {name} {text}\n# TYPE {name} {kind}\n{''.join(lines)}"


_ODD = {"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}


def _float(value: float) -> str:
    text = repr(value)
    return _ODD.get(text, text)


# A number as Go and Prometheus read it; a time is its Unix seconds.
_WRITE: Mapping[type, Callable[[Any], str]] = {
    int: str,
    float: _float,
    bool: lambda value: "1" if value else "0",
    datetime: lambda value: _float(value.timestamp()),
}
