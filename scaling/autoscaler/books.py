"""The cluster's books during one cycle: a working copy of the stored state, with what happened written beside it."""

from dataclasses import replace

from scaling.autoscaler import markers as rules
from scaling.autoscaler.failure_rules import Failure, FailureClass
from scaling.autoscaler.models import (
    Action,
    ActionKind,
    ClusterState,
    DeleteCause,
    DeleteIntent,
    GroupControl,
    Marker,
    MarkerKind,
    Slice,
    SliceState,
)
from scaling.autoscaler.quantities import duration_words

_NO_CONTROL = GroupControl()


def transient(text: str) -> Failure:
    """A failure we found ourselves: a time-out, a loss."""
    return Failure(FailureClass.TRANSIENT, False, None, None, False, text)


class Books:
    """Working copies, keyed as in ClusterState; the state given is never changed."""

    def __init__(self, state: ClusterState, now: float) -> None:
        self.before = state
        self.now = now
        self.groups = state.groups
        self.slices: dict[str, Slice] = dict(state.slices)
        self.markers: dict[tuple[str, MarkerKind], Marker] = dict(state.markers)
        self.controls: dict[str, GroupControl] = dict(state.controls)
        self.pools = dict(state.pools)
        self.platforms = dict(state.platforms)
        self.orphans = dict(state.orphans)
        self.actions: list[Action] = []
        self.deletes: list[DeleteIntent] = []
        self.gone: list[str] = []
        self.unreachable: frozenset[str] = frozenset()

    def control(self, group: str) -> GroupControl:
        return self.controls.get(group, _NO_CONTROL)

    def markers_of(self, group: str) -> dict[MarkerKind, Marker]:
        return {kind: self.markers[group, kind] for kind in MarkerKind if (group, kind) in self.markers}

    def act(self, kind: ActionKind, group: str, slice_: str = "", reason: str = "", observed: bool = False) -> None:
        self.actions.append(Action(kind, group, slice_, reason, self.now, observed))

    def drop(self, name: str) -> None:
        """The slice is gone."""
        del self.slices[name]
        self.gone.append(name)

    def ask_delete(self, slice_: Slice, cause: DeleteCause, reason: str) -> None:
        """Tell the platform to end a slice; its state is the caller's to set."""
        platform = self.groups[slice_.group].platform
        self.deletes.append(DeleteIntent(slice_.name, slice_.group, platform, cause, reason))
        self.slices[slice_.name] = replace(slice_, delete_asked_at=self.now)

    def fail(self, slice_: Slice, kind: ActionKind, reason: str, cause: DeleteCause) -> None:
        """The slice failed or was lost: it no longer counts, and what may be left of it is to go."""
        self.act(kind, slice_.group, slice_.name, reason)
        self.ask_delete(replace(slice_, state=SliceState.FAILED, error=reason, workers=()), cause, reason)

    def mark(self, group: str, failure: Failure) -> None:
        """Remember a failure on its group and, where it tells one, the limit of its pool."""
        control = self.control(group)
        marker, memory = rules.after_failure(group, failure, self.markers_of(group), control.backoff, self.now)
        self.controls[group] = replace(control, backoff=memory)
        if self._is_news(marker):
            self.act(ActionKind.MARKER_SET, group, "", marker_words(marker))
        self.markers[group, marker.kind] = marker
        pool = self.pools.get(self.groups[group].quota_pool or "")
        if pool is not None:
            self.pools[pool.name] = rules.learned(pool, failure, self.now)

    def _is_news(self, marker: Marker) -> bool:
        old = self.markers.get((marker.group, marker.kind))
        return old is None or old.until != marker.until

    def clear(self, group: str, kind: MarkerKind, reason: str) -> None:
        del self.markers[group, kind]
        self.act(ActionKind.MARKER_CLEARED, group, "", f"{kind}: {reason}")

    def forget_backoff(self, group: str) -> None:
        self.controls[group] = replace(self.control(group), backoff=_NO_CONTROL.backoff)


def marker_words(marker: Marker) -> str:
    """What an action says of a new marker: its kind, its length, the platform's words."""
    length = "until cleared" if marker.until is None else f"for {duration_words(marker.until - marker.since)}"
    return f"{marker.kind} {length}: {marker.error}"
