"""The only wall clock of the control plane's shell: everything outside the pure packages asks `now()`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta


def _wall() -> datetime:
    return datetime.now(UTC)


_source: Callable[[], datetime] = _wall


def now() -> datetime:
    """The present moment, aware, in UTC."""
    return _source()


class FrozenClock:
    """A clock that stands still until it is told to move."""

    def __init__(self, at: datetime) -> None:
        self.set(at)

    def __call__(self) -> datetime:
        return self._at

    def set(self, at: datetime) -> datetime:
        """Stand at `at`, which must be aware; returns it in UTC."""
        if at.tzinfo is None:
            raise ValueError("a frozen clock needs an aware datetime")
        self._at = at.astimezone(UTC)
        return self._at

    def advance(self, seconds: float) -> datetime:
        """Move by `seconds` and return the new moment."""
        return self.set(self._at + timedelta(seconds=seconds))


@contextmanager
def frozen(at: datetime | None = None) -> Iterator[FrozenClock]:
    """Replace the clock of this process with one that stands at `at` (default: the present moment)."""
    global _source
    before, clock = _source, FrozenClock(at or _wall())
    _source = clock
    try:
        yield clock
    finally:
        _source = before
