"""What every platform can do, and the errors it may answer with."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from scaling.characters import harmless


class PlatformError(Exception):
    """The platform answered, and refused; the text is its own words."""

    @property
    def words(self) -> str:
        return harmless(str(self)) or type(self).__name__


class PlatformUnreachableError(PlatformError):
    """No whole answer: a time-out, a broken connection, a 5xx, half a page. It never means that anything is gone."""


class SliceExistsError(PlatformError):
    """A slice of that name exists already."""


class SliceNotFoundError(PlatformError):
    """No slice of that name exists: for a delete that is success."""


class PlatformSliceState(StrEnum):
    BOOTING = "BOOTING"
    READY = "READY"
    FAILED = "FAILED"
    TERMINATING = "TERMINATING"


class PlatformWorkerState(StrEnum):
    BOOTING = "BOOTING"
    READY = "READY"
    UNKNOWN = "UNKNOWN"
    NOT_FOUND = "NOT_FOUND"


@dataclass(frozen=True, slots=True)
class PlatformWorker:
    """One machine of a slice as the platform sees it; `index` counts from 0 within the slice."""

    index: int
    state: PlatformWorkerState
    address: str = ""


@dataclass(frozen=True, slots=True)
class PlatformSlice:
    """A slice as the platform lists it. `created` is Unix seconds; `error` says why it is FAILED."""

    name: str
    group: str
    installation: str
    state: PlatformSliceState
    created: float
    workers: tuple[PlatformWorker, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class SliceRequest:
    """What a create asks for. `name` is the idempotency key; `installation` and `group` become labels of the slice."""

    name: str
    group: str
    installation: str
    zone: str
    device_type: str
    device_variant: str
    devices_per_worker: int
    workers: int
    capacity_type: str
    quota_pool: str = ""
    options: dict[str, object] = field(default_factory=dict)


class Provisioner(Protocol):
    """A platform's client. Calls block, at most `IRIS_PLATFORM_TIMEOUT` seconds, and are never retried inside."""

    def list_slices(self, installation: str) -> Sequence[PlatformSlice]:
        """Every slice that bears this installation's id; raises PlatformUnreachableError rather than a partial list."""
        ...

    def create_slice(self, request: SliceRequest) -> None:
        """Ask for one slice. Returns once it is accepted; raises SliceExistsError or PlatformError with its words."""
        ...

    def delete_slice(self, name: str, installation: str) -> None:
        """Ask for its end. Returns once accepted; raises SliceNotFoundError or PlatformError; spares foreign slices."""
        ...
