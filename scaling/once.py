"""What several parts of one page ask of the database: asked once while the page is made, and so the same in each."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import update_wrapper
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")
_found: ContextVar[dict[object, Any] | None] = ContextVar("facts of the page that is being made", default=None)


@contextmanager
def asking_once() -> Iterator[None]:
    """Within, each fact is read at its first use and kept. A part that is rendered alone, later, reads anew."""
    token = _found.set({})
    try:
        yield
    finally:
        _found.reset(token)


class fact(Generic[T]):
    """A function without arguments whose answer is kept while a page is made: each fact has the one that reads it."""

    def __init__(self, read: Callable[[], T]) -> None:
        self._read = read
        update_wrapper(self, read)

    def __call__(self) -> T:
        found = _found.get()
        if found is None:
            return self._read()
        if self not in found:
            found[self] = self._read()
        return cast(T, found[self])

    @property
    def known(self) -> bool:
        """Whether this page has asked already."""
        return self in (_found.get() or ())
