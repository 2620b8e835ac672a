"""Each act as a change of the planner's picture: what the act will store, as the planner will read it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from scaling.autoscaler.models import (
    ClusterState,
    Drain,
    GroupControl,
    MarkerKind,
    Mode,
    Pause,
    PlatformStatus,
)

Change = Callable[[ClusterState], ClusterState]

# The names of the planner for what is stored with its unit; a price decides nothing.
_PLANNER_NAMES = {
    "idle_threshold_seconds": "idle_threshold",
    "drain_idle_threshold_seconds": "drain_idle_threshold",
    "provision_timeout_seconds": "provision_timeout",
}
_NOT_PLANNED = ("price_per_slice_hour",)


def limits(group: str, read: Mapping[str, Any]) -> Change:
    """An edit of LIMIT_FIELDS, as read; a permanent marker of the group ends with it."""
    values = {_PLANNER_NAMES.get(name, name): value for name, value in read.items() if name not in _NOT_PLANNED}

    def change(state: ClusterState) -> ClusterState:
        edited = {**state.groups, group: state.groups[group].edited(values)}
        return without_marker(group, MarkerKind.PERMANENT)(replace(state, groups=edited))

    return change


def without_marker(group: str, kind: str) -> Change:
    """The failure is forgotten."""

    def change(state: ClusterState) -> ClusterState:
        return replace(state, markers={key: one for key, one in state.markers.items() if key != (group, kind)})

    return change


def held_marker(group: str, kind: str, until: datetime) -> Change:
    """The failure holds until then."""

    def change(state: ClusterState) -> ClusterState:
        key = (group, MarkerKind(kind))
        if key not in state.markers:
            return state
        return replace(state, markers={**state.markers, key: replace(state.markers[key], until=until.timestamp())})

    return change


def drained(group: str, since: datetime, deadline: datetime | None = None) -> Change:
    order = Drain(since.timestamp(), deadline=deadline.timestamp() if deadline else None)
    return _controlled(group, lambda control: replace(control, drain=order))


def undrained(group: str) -> Change:
    return _controlled(group, lambda control: replace(control, drain=None))


def paused(group: str, since: datetime, until: datetime | None = None) -> Change:
    order = Pause(since.timestamp(), until=until.timestamp() if until else None)
    return _controlled(group, lambda control: replace(control, pause=order))


def resumed(group: str) -> Change:
    return _controlled(group, lambda control: replace(control, pause=None))


def _controlled(group: str, order: Callable[[GroupControl], GroupControl]) -> Change:
    def change(state: ClusterState) -> ClusterState:
        control = order(state.controls.get(group, GroupControl()))
        return replace(state, controls={**state.controls, group: control})

    return change


def pool(name: str, read: Mapping[str, Any]) -> Change:
    """An edit of POOL_FIELDS, as read, or none of them; the learned limit is forgotten with it."""

    def change(state: ClusterState) -> ClusterState:
        edited = replace(state.pools[name], **read, learned_limit=None, learned_at=None)
        return replace(state, pools={**state.pools, name: edited})

    return change


def drained_slice(name: str, since: datetime) -> Change:
    return _slice(name, Drain(since.timestamp()))


def undrained_slice(name: str) -> Change:
    return _slice(name, None)


def _slice(name: str, drain: Drain | None) -> Change:
    def change(state: ClusterState) -> ClusterState:
        if name not in state.slices:
            return state
        return replace(state, slices={**state.slices, name: replace(state.slices[name], drain=drain)})

    return change


def halted(since: datetime, by: str) -> Change:
    """All buying and releasing stops."""
    return lambda state: replace(state, halted=Pause(since.timestamp(), by=by))


def unhalted(state: ClusterState) -> ClusterState:
    """Buying and releasing go on."""
    return replace(state, halted=None)


def in_mode(platform: str, mode: str) -> Change:
    def change(state: ClusterState) -> ClusterState:
        switched = replace(state.platforms.get(platform, PlatformStatus()), mode=Mode(mode))
        return replace(state, platforms={**state.platforms, platform: switched})

    return change


def together(*changes: Change) -> Change:
    """Several changes at once, in order."""

    def change(state: ClusterState) -> ClusterState:
        for one in changes:
            state = one(state)
        return state

    return change
