"""What operators do in a cluster scenario: each event changes the stored state and leaves its actions."""

from collections.abc import Callable
from dataclasses import replace

from scaling.autoscaler.models import (
    Action,
    ActionKind,
    BackoffMemory,
    ClusterState,
    Drain,
    GroupControl,
    MarkerKind,
    Pause,
    SliceState,
)
from scaling.scenarios.cluster_scenario import Event, EventKind

OPERATOR = "operator"
Changed = tuple[ClusterState, list[Action]]


def apply_event(state: ClusterState, event: Event, now: float) -> Changed:
    """The state after an operator's event, and its actions; what changes nothing leaves none."""
    return _HANDLERS[event.kind](state, event, now)


def _set_group(state: ClusterState, event: Event, now: float) -> Changed:
    """An edit takes a permanent refusal away."""
    group = state.groups[event.target].edited(event.changes)
    edited = replace(state, groups={**state.groups, group.name: group})
    return _without_markers(edited, group.name, (MarkerKind.PERMANENT,), "the group was edited", now)


def _control(state: ClusterState, group: str, control: GroupControl) -> ClusterState:
    return replace(state, controls={**state.controls, group: control})


def _drain_group(state: ClusterState, event: Event, now: float) -> Changed:
    control = state.controls.get(event.target, GroupControl())
    drain = Drain(now if control.drain is None else control.drain.since, OPERATOR, event.deadline)
    until = "" if event.deadline is None else f"until {event.deadline:g}"
    return _control(state, event.target, replace(control, drain=drain)), [
        Action(ActionKind.DRAIN, event.target, "", until, now)
    ]


def _undrain_group(state: ClusterState, event: Event, now: float) -> Changed:
    control = state.controls.get(event.target, GroupControl())
    if control.drain is None:
        return state, []
    return _control(state, event.target, replace(control, drain=None)), [
        Action(ActionKind.UNDRAIN, event.target, "", "", now)
    ]


def _pause_group(state: ClusterState, event: Event, now: float) -> Changed:
    control = state.controls.get(event.target, GroupControl())
    return _control(state, event.target, replace(control, pause=Pause(now, OPERATOR, event.until))), [
        Action(ActionKind.PAUSE, event.target, "", "", now)
    ]


def _resume_group(state: ClusterState, event: Event, now: float) -> Changed:
    control = state.controls.get(event.target, GroupControl())
    if control.pause is None:
        return state, []
    return _control(state, event.target, replace(control, pause=None)), [
        Action(ActionKind.RESUME, event.target, "", "", now)
    ]


def _drain_slice(state: ClusterState, event: Event, now: float) -> Changed:
    item = state.slices.get(event.target)
    if item is None or not item.state.counts or item.delete_asked_at is not None:
        return state, []
    drained = replace(
        item,
        state=SliceState.DRAINING if item.state is SliceState.READY else item.state,
        drain=Drain(now, OPERATOR, event.deadline),
    )
    return replace(state, slices={**state.slices, item.name: drained}), [
        Action(ActionKind.DRAIN, item.group, item.name, "", now)
    ]


def _clear_marker(state: ClusterState, event: Event, now: float) -> Changed:
    """Everything that keeps the group from being asked: its markers, their count, and the limit that one taught."""
    pool = state.pools.get(state.groups[event.target].quota_pool or "")
    if pool is not None and (event.target, MarkerKind.QUOTA) in state.markers:
        forgotten = replace(pool, learned_limit=None, learned_at=None)
        state = replace(state, pools={**state.pools, pool.name: forgotten})
    control = state.controls.get(event.target, GroupControl())
    state = _control(state, event.target, replace(control, backoff=BackoffMemory()))
    return _without_markers(state, event.target, tuple(MarkerKind), "cleared by an operator", now)


def _without_markers(
    state: ClusterState, group: str, kinds: tuple[MarkerKind, ...], reason: str, now: float
) -> Changed:
    cleared = [kind for kind in kinds if (group, kind) in state.markers]
    kept = {key: marker for key, marker in state.markers.items() if key[0] != group or key[1] not in cleared}
    actions = [Action(ActionKind.MARKER_CLEARED, group, "", f"{kind}: {reason}", now) for kind in cleared]
    return replace(state, markers=kept), actions


def _acknowledge_marker(state: ClusterState, event: Event, now: float) -> Changed:
    """An acknowledged marker blocks as before; somebody knows of it."""
    markers = dict(state.markers)
    actions = []
    for kind in MarkerKind:
        marker = markers.get((event.target, kind))
        if marker is not None:
            markers[event.target, kind] = replace(marker, acknowledged_at=now, acknowledged_by=OPERATOR)
            actions.append(Action(ActionKind.ACKNOWLEDGE, event.target, "", kind, now))
    return replace(state, markers=markers), actions


_HANDLERS: dict[EventKind, Callable[[ClusterState, Event, float], Changed]] = {
    EventKind.SET_GROUP: _set_group,
    EventKind.DRAIN_GROUP: _drain_group,
    EventKind.UNDRAIN_GROUP: _undrain_group,
    EventKind.PAUSE_GROUP: _pause_group,
    EventKind.RESUME_GROUP: _resume_group,
    EventKind.DRAIN_SLICE: _drain_slice,
    EventKind.CLEAR_MARKER: _clear_marker,
    EventKind.ACKNOWLEDGE_MARKER: _acknowledge_marker,
}
