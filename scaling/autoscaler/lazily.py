"""A mapping that is worked out when it is first looked at."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

Value = TypeVar("Value")


class Lazily(Mapping[str, Value]):
    """For what a plan knows and few ask for: a look at every entry is a good part of a plan's time."""

    def __init__(self, make: Callable[[], dict[str, Value]]) -> None:
        self._make: Callable[[], dict[str, Value]] | None = make
        self._made: dict[str, Value] = {}

    def _get(self) -> dict[str, Value]:
        if self._make is not None:
            self._made = self._make()
            self._make = None
        return self._made

    def __getitem__(self, key: str) -> Value:
        return self._get()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._get())

    def __len__(self) -> int:
        return len(self._get())
