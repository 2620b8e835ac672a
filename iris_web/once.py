"""What several parts of one page ask of the database: asked once while the page is made, and so the same in each."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")
_known: ContextVar[dict[str, Any] | None] = ContextVar("facts of the page that is being made", default=None)


@contextmanager
def asking_once() -> Iterator[None]:
    """Within, each fact is read at its first use and kept. A part that is rendered alone, later, reads anew."""
    token = _known.set({})
    try:
        yield
    finally:
        _known.reset(token)


def fact(name: str, read: Callable[[], T]) -> T:
    """What is called `name`: from `read`, or what it found before on this page."""
    known = _known.get()
    if known is None:
        return read()
    if name not in known:
        known[name] = read()
    found: T = known[name]
    return found
