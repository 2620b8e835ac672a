"""One mapping of a cluster file, read key by key: wrong values are refused by path, unread keys are remembered."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

Value = TypeVar("Value")
Default = TypeVar("Default")


class ClusterFileError(ValueError):
    """Something in a cluster file cannot be meant; each of `faults` reads `path: expected ..., got ...`."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.faults: tuple[str, ...] = (str(self),)

    @classmethod
    def of(cls, faults: Sequence[str]) -> "ClusterFileError":
        """The error for all that is wrong in a file, in its order."""
        error = cls("", "\n".join(faults))
        error.faults = tuple(faults)
        return error


class Notes:
    """What the reader of a file has to say besides the result: faults, paths without a meaning, and warnings."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.not_understood: list[str] = []
        self.warnings: list[str] = []

    def warn(self, path: str, message: str) -> None:
        self.warnings.append(f"{path}: {message}")

    @contextmanager
    def gathering(self) -> Iterator[None]:
        """Keep what is wrong inside, to read on after it; after a wrong value what follows from it is not told."""
        before = len(self.faults)
        try:
            yield
        except ClusterFileError as error:
            if len(self.faults) == before:
                self.faults += error.faults


class Section:
    """A mapping at a path. Every key asked for counts as understood; `done` notes the rest."""

    def __init__(self, value: object, path: str, notes: Notes) -> None:
        if value is not None and not isinstance(value, Mapping):
            raise ClusterFileError(path, f"expected a mapping, got {shown(value)}")
        self._values: Mapping[object, object] = value or {}
        self._asked: set[object] = set()
        self.path = path
        self.notes = notes

    def at(self, key: object) -> str:
        return f"{self.path}.{key}" if self.path else str(key)

    def wrong(self, key: object, message: str) -> ClusterFileError:
        return ClusterFileError(self.at(key), message)

    def has(self, key: str) -> bool:
        """Whether the key is there with a value."""
        return self._values.get(key) is not None

    def raw(self, key: object) -> object:
        self._asked.add(key)
        return self._values.get(key)

    def get(self, key: str, read: Callable[[object], Value], default: Default) -> Value | Default:
        """The value read, or the default where the key is absent or empty, or wrong: that is noted as a fault."""
        value = self.raw(key)
        if value is None:
            return default
        try:
            return read(value)
        except ValueError as error:
            self.notes.faults += self.wrong(key, str(error).rstrip(".")).faults
            return default

    def required(self, key: str, read: Callable[[object], Value], expected: str) -> Value:
        if not self.has(key):
            raise self.wrong(key, f"expected {expected}, it is missing")
        try:
            return read(self.raw(key))
        except ValueError as error:
            raise self.wrong(key, str(error).rstrip(".")) from None

    def section(self, key: object) -> "Section":
        """The mapping under a key, an empty one where there is none."""
        return Section(self.raw(key), self.at(key), self.notes)

    def __iter__(self) -> Iterator[object]:
        """The keys, in the file's order."""
        return iter(self._values)

    def done(self) -> None:
        """Note every key that nobody asked for, in the file's order."""
        self.notes.not_understood += [self.at(key) for key in self._values if key not in self._asked]


def shown(value: object) -> str:
    """The value as a reader would write it, never longer than a line."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple | set):
        return "a list" if value else "an empty list"
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
        return "a number of more than 60 digits"
    written = {True: "true", False: "false"}.get(value, "") if isinstance(value, bool) else repr(value)
    return "nothing" if value is None else written if len(written) <= 60 else f"{written[:57]}..."
