"""How an act fails: refused input, someone else was first, or no such thing. Texts are for people."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Model


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with the input: where (`jobs[3].tasks`) and what was expected."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class OperationError(Exception):
    """Base of everything an operation raises on purpose; `str()` is one sentence fit to be shown."""


class OperationRefused(OperationError):
    """Nothing was changed: the input or the present state does not allow it.

    `field` names the faulty input, "" where it is the state; `faults` lists every fault found, the first one first.
    """

    def __init__(self, message: str, field: str = "", faults: Sequence[Fault] = ()) -> None:
        self.faults = tuple(faults) or (Fault(field, message),)
        self.field = field or self.faults[0].path
        super().__init__(str(Fault(field, message)))

    @classmethod
    def of(cls, faults: Sequence[Fault]) -> "OperationRefused":
        """The refusal for one or more faults; the sentence is the first and how many more there are."""
        first, more = faults[0], len(faults) - 1
        message = first.message + (f" (and {more} more)" if more else "")
        return cls(message, first.path, faults)


class InvalidRequest(OperationRefused):
    """The input itself cannot be read as what it must be: wrong type, unknown field, unreadable amount, too large."""


class StaleVersion(OperationError):
    """Someone else changed it first. `current` is the row as it is now."""

    def __init__(self, message: str, current: Model) -> None:
        self.current = current
        super().__init__(message)


class NotFound(OperationError):
    """There is no such thing; the sentence names the nearest existing name where one is near."""
