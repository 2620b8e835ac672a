"""The simulated cloud as a platform: the client that Iris calls."""

import os
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from scaling.platforms.base import (
    PlatformError,
    PlatformSlice,
    PlatformUnreachableError,
    SliceExistsError,
    SliceNotFoundError,
    SliceRequest,
)
from scaling.platforms.simulated.chance import losses
from scaling.platforms.simulated.ledger import Ledger
from scaling.platforms.simulated.life import listed
from scaling.platforms.simulated.records import Answer, CallKind
from scaling.platforms.simulated.settings import CloudSettings
from scaling.platforms.simulated.store import Store
from scaling.platforms.simulated.verdicts import Desk, Verdict

_ERRORS: dict[Answer, type[PlatformError]] = {
    Answer.EXISTS: SliceExistsError,
    Answer.NOT_FOUND: SliceNotFoundError,
    Answer.RATE_LIMITED: PlatformError,
    Answer.REFUSED: PlatformError,
    Answer.UNREACHABLE: PlatformUnreachableError,
}


@dataclass(frozen=True, slots=True)
class SimulatedProvisioner:
    """A client of one cloud's books.

    A call takes effect in one transaction of the books and is answered afterwards, so that a caller killed in between
    has bought (or ended) the slice without knowing it, as with a real cloud. An answer later than `timeout_seconds`
    never arrives, but the effect stays.
    """

    store: Store
    cloud: str
    settings: CloudSettings = field(default_factory=CloudSettings)
    platform_kind: str = "simulated"
    timeout_seconds: float = 10.0
    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep

    def list_slices(self, installation: str) -> Sequence[PlatformSlice]:
        """Every slice with this installation's id that is not gone, oldest first."""
        now = self.now()
        with self.store.write() as transaction:
            ledger = Ledger(transaction, self.cloud)
            verdict = self._desk(ledger, now).judge_other(CallKind.LIST)
            found = ledger.live(now, installation) if verdict.answer is Answer.LISTED else []
            call = ledger.log_call(
                CallKind.LIST, caller(), now, None, verdict.answer, verdict.error, installation=installation
            )
        self._answer(call, verdict)
        return [listed(booked, now) for booked in found]

    def create_slice(self, request: SliceRequest) -> None:
        """Buy one slice; under a name that exists, nothing is bought and SliceExistsError is raised."""
        now = self.now()
        with self.store.write() as transaction:
            ledger = Ledger(transaction, self.cloud)
            desk = self._desk(ledger, now)
            verdict = desk.judge_create(request)
            accepted = verdict.answer is Answer.ACCEPTED
            if accepted:
                self._book(ledger, desk, request, now)
            call = ledger.log_call(
                CallKind.CREATE,
                caller(),
                now,
                now if accepted else None,
                verdict.answer,
                verdict.error,
                request.name,
                request.installation,
                request.group,
            )
        self._answer(call, verdict)

    def delete_slice(self, name: str, installation: str) -> None:
        """End one slice of this installation; ending it again is no error while it is TERMINATING."""
        now = self.now()
        with self.store.write() as transaction:
            ledger = Ledger(transaction, self.cloud)
            verdict = self._desk(ledger, now).judge_other(CallKind.DELETE, name)
            if verdict.answer is Answer.ACCEPTED:
                verdict = self._end(ledger, name, installation, now, verdict)
            effect_at = now if verdict.answer is Answer.ACCEPTED else None
            call = ledger.log_call(
                CallKind.DELETE, caller(), now, effect_at, verdict.answer, verdict.error, name, installation
            )
        self._answer(call, verdict)

    def _book(self, ledger: Ledger, desk: Desk, request: SliceRequest, now: float) -> None:
        workers = desk.boot_plan(request)
        ready_at = max(workers, default=now)
        lost = losses(
            self.settings,
            self.cloud,
            request.name,
            request.workers,
            ready_at,
            preemptible=request.capacity_type == "preemptible",
        )
        ledger.add_slice(request, now, workers, lost, desk.late_failure(request, ready_at))

    def _end(self, ledger: Ledger, name: str, installation: str, now: float, verdict: Verdict) -> Verdict:
        """Foreign slices are spared: under this installation's id there is none of that name."""
        booked = ledger.named(name, now)
        if booked is None or booked.installation != installation:
            return Verdict(Answer.NOT_FOUND, f"404 {name} was not found", verdict.delay_seconds)
        if booked.deleted_at is None:
            ledger.end_slice(booked.id, now, now + self.settings.delete_seconds)
        return verdict

    def _answer(self, call: int, verdict: Verdict) -> None:
        if verdict.delay_seconds > self.timeout_seconds:
            self.sleep(self.timeout_seconds)
            raise PlatformUnreachableError(f"No answer within {self.timeout_seconds:g} s.")
        if verdict.delay_seconds:
            self.sleep(verdict.delay_seconds)
        with self.store.write() as transaction:
            Ledger(transaction, self.cloud).answered(call, self.now())
        if verdict.answer in _ERRORS:
            raise _ERRORS[verdict.answer](verdict.error)

    def _desk(self, ledger: Ledger, now: float) -> Desk:
        return Desk(ledger, self.settings, self.platform_kind, now)


def caller() -> str:
    """Who is calling, for the books: machine and process."""
    return f"{socket.gethostname()}:{os.getpid()}"
