"""Times in a cluster scenario: seconds from its start, or ISO-8601.

The start of a scenario that uses ISO-8601 is `run.start`; without it, the latest of the times at which something in the
file already was (slices, markers, jobs), else its first event.
"""

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime

from scaling.scenarios.fields import Fields, wrong

_PAST_KEYS = ("created", "idle_since", "since", "submitted")
_EXPECTED = "seconds from the start or an ISO-8601 time"


class Axis:
    """Puts every time of a file on the axis whose 0 is the scenario's start; `origin` is that start in Unix seconds."""

    def __init__(self, origin: float = 0.0) -> None:
        self.origin = origin

    def time(self, value: object, place: str) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return value
        moment = as_moment(value)
        if moment is None:
            raise wrong(place, _EXPECTED, value)
        return moment - self.origin

    def of(self, found: Fields, key: str) -> float | None:
        """The time under a key, None where it is null or left out."""
        value = found.get(key)
        return None if value is None else self.time(value, found.at(key))

    def lenient(self, value: object) -> object:
        """A job's time; what cannot be read stays as it is, to be told in the job's hint."""
        moment = as_moment(value)
        return value if moment is None else moment - self.origin


def as_moment(value: object) -> float | None:
    """An ISO-8601 time in Unix seconds; without an offset it is UTC. YAML reads unquoted ones itself."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        return None
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()


def find_axis(content: object) -> Axis:
    """The axis of a document, looked for before it is read."""
    if not isinstance(content, Mapping):
        return Axis()
    run = content.get("run")
    start = as_moment(run.get("start")) if isinstance(run, Mapping) else None
    if start is not None:
        return Axis(start)
    past = [at for section in ("slices", "markers", "jobs") for at in _moments(content.get(section), _PAST_KEYS)]
    ahead = list(_moments(content.get("events"), ("at",)))
    return Axis(max(past) if past else min(ahead, default=0.0))


def _moments(section: object, keys: tuple[str, ...]) -> Iterator[float]:
    for item in section if isinstance(section, list) else ():
        if isinstance(item, Mapping):
            for key in keys:
                moment = as_moment(item.get(key))
                if moment is not None:
                    yield moment
