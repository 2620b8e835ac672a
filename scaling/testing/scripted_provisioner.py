"""A platform in memory whose every answer a test decides, with hooks around the moment a call takes effect."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from scaling.platforms.base import (
    PlatformError,
    PlatformSlice,
    PlatformSliceState,
    PlatformWorker,
    PlatformWorkerState,
    SliceExistsError,
    SliceNotFoundError,
    SliceRequest,
)

Hook = Callable[[str, str], None]


def _nothing(_kind: str, _name: str) -> None:
    """The hook of a call at which nothing special happens."""


@dataclass
class ScriptedProvisioner:
    """Implements `Provisioner`. A call is logged, `before` runs, it takes effect, `after` runs, it is answered.

    Hooks get the call's kind (`create`, `delete`, `list`) and slice name; one that raises is a caller that dies there.
    `fail(kind, *errors)` queues answers for the next calls of that kind: an exception, or None for success; with
    `effect=True` the call takes effect although its answer is the error. `delay_seconds` holds every answer back.
    """

    before: Hook = _nothing
    after: Hook = _nothing
    delay_seconds: float = 0.0
    now: Callable[[], float] = time.time
    slices: dict[str, PlatformSlice] = field(default_factory=dict)
    requests: list[SliceRequest] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    _answers: dict[str, deque[tuple[Exception | None, bool]]] = field(default_factory=dict)

    def fail(self, kind: str, *errors: Exception | str | None, effect: bool = False) -> None:
        """Queue answers; a text becomes a PlatformError of these words."""
        for error in errors:
            answer = PlatformError(error) if isinstance(error, str) else error
            self._answers.setdefault(kind, deque()).append((answer, effect))

    # -- the platform

    def list_slices(self, installation: str) -> Sequence[PlatformSlice]:
        found: list[PlatformSlice] = []
        self._call("list", "", lambda: found.extend(self._of(installation)))
        return found

    def create_slice(self, request: SliceRequest) -> None:
        self._call("create", request.name, lambda: self._create(request))

    def delete_slice(self, name: str, installation: str) -> None:
        self._call("delete", name, lambda: self._delete(name, installation))

    # -- what happens to slices meanwhile

    def make_ready(self, *names: str) -> None:
        """These slices (default: all that boot) and their workers become READY."""
        for name in names or [s.name for s in self.slices.values() if s.state is PlatformSliceState.BOOTING]:
            found = self.slices[name]
            workers = tuple(replace(worker, state=PlatformWorkerState.READY) for worker in found.workers)
            self.slices[name] = replace(found, state=PlatformSliceState.READY, workers=workers)

    def make_failed(self, name: str, error: str) -> None:
        """The slice fails after it was accepted."""
        self.slices[name] = replace(self.slices[name], state=PlatformSliceState.FAILED, error=error)

    def set_worker(self, name: str, index: int, state: PlatformWorkerState) -> None:
        """One worker is seen in another state; NOT_FOUND is a preempted one."""
        workers = [replace(w, state=state) if w.index == index else w for w in self.slices[name].workers]
        self.slices[name] = replace(self.slices[name], workers=tuple(workers))

    def forget(self, name: str) -> None:
        """The slice is gone."""
        del self.slices[name]

    def _of(self, installation: str) -> list[PlatformSlice]:
        return [found for found in self.slices.values() if found.installation == installation]

    def _create(self, request: SliceRequest) -> None:
        if request.name in self.slices:
            raise SliceExistsError(f"{request.name} already exists")
        self.requests.append(request)
        self.slices[request.name] = PlatformSlice(
            name=request.name,
            group=request.group,
            installation=request.installation,
            state=PlatformSliceState.BOOTING,
            created=self.now(),
            workers=tuple(PlatformWorker(i, PlatformWorkerState.BOOTING) for i in range(request.workers)),
        )

    def _delete(self, name: str, installation: str) -> None:
        if name not in {found.name for found in self._of(installation)}:
            raise SliceNotFoundError(f"{name} was not found")
        self.slices[name] = replace(self.slices[name], state=PlatformSliceState.TERMINATING)

    def _call(self, kind: str, name: str, effect: Callable[[], None]) -> None:
        self.calls.append((kind, name))
        queue = self._answers.get(kind)
        error, takes_effect = queue.popleft() if queue else (None, True)
        self.before(kind, name)
        if error is None or takes_effect:
            effect()
        self.after(kind, name)
        if self.delay_seconds:
            time.sleep(self.delay_seconds)
        if error is not None:
            raise error
