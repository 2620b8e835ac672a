"""Reading a cluster scenario from a parsed mapping (AUTOSCALER section 9); raises BadScenario naming the place.

A job that cannot be meant is no bad file: it gets a hint. Its keys and its id must be right all the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from scaling.autoscaler.markers import BACKOFF_FIRST_SECONDS, QUOTA_SECONDS, STOCKOUT_SECONDS, failures_behind
from scaling.autoscaler.models import DemandEntry, Marker, MarkerKind, QuotaPool, ScalingGroup, SliceState
from scaling.autoscaler.scaling_group import KNOWN_KEYS, GroupFieldError, plain
from scaling.scenarios.cluster_scenario import (
    DEFAULT_BOOT_SECONDS,
    ClusterScenario,
    Event,
    EventKind,
    FailRule,
    ScenarioJob,
    StartSlice,
)
from scaling.scenarios.cluster_times import Axis, find_axis
from scaling.scenarios.fields import BadScenario, Fields, fields, items, wrong

MOST_CYCLES = 100_000
_TOP_KEYS = ("groups", "quota_pools", "slices", "markers", "jobs", "cloud", "run", "events")
_SLICE_KEYS = ("id", "group", "state", "idle_since", "active_tasks", "created")
_MARKER_KEYS = ("group", "kind", "since", "until", "failures", "error", "acknowledged")
_JOB_KEYS = (
    "id",
    "tasks",
    "resources",
    "device",
    "constraints",
    "priority",
    "tier",
    "gang",
    "allow_preemptible",
    "allow_accelerators",
    "submitted",
    "run_seconds",
)
_FAIL_KEYS = ("group", "after", "error", "from", "until", "late")
_STATES = [state.value for state in SliceState if state is not SliceState.GONE]
_MARKER_SECONDS: dict[MarkerKind, float | None] = {
    MarkerKind.STOCKOUT: STOCKOUT_SECONDS,
    MarkerKind.BACKOFF: BACKOFF_FIRST_SECONDS,
    MarkerKind.QUOTA: QUOTA_SECONDS,
    MarkerKind.PERMANENT: None,
}
# What each event may carry beside `at` and its own key.
_EVENT_EXTRAS: dict[EventKind, tuple[str, ...]] = {
    EventKind.SET_GROUP: tuple(key for key in KNOWN_KEYS if key != "name"),
    EventKind.DRAIN_GROUP: ("deadline",),
    EventKind.DRAIN_SLICE: ("deadline",),
    EventKind.PAUSE_GROUP: ("until",),
    EventKind.WORKER_UNKNOWN: ("for",),
    EventKind.PLATFORM_LIST_ERROR: ("for", "platform"),
}
_SLICE_EVENTS = (EventKind.DRAIN_SLICE, EventKind.LOSE_WORKER, EventKind.WORKER_UNKNOWN)

Item = TypeVar("Item")


def parse_cluster_scenario(content: object) -> ClusterScenario:
    """Read one document."""
    top = fields(content, "", _TOP_KEYS, "a mapping with groups and jobs")
    axis = find_axis(content)
    groups = _by_name(_groups(top), "groups")
    pools = _by_name(_pools(top), "quota_pools")
    for place, name, group in _groups(top):
        _known(group.quota_pool, pools, f"{place or name}.quota_pool", "quota pool")
    slices = _by_name(_slices(top, groups, axis), "slices")
    jobs = tuple(_jobs(top, axis))
    cloud = fields(top.get("cloud") or {}, "cloud", ("boot_seconds", "fail"))
    run = fields(top.get("run") or {}, "run", ("cycles", "every", "start"))
    return ClusterScenario(
        groups=groups,
        pools=pools,
        slices=tuple(slices.values()),
        markers=tuple(_markers(top, groups, axis)),
        jobs=jobs,
        boot_seconds=cloud.number("boot_seconds", DEFAULT_BOOT_SECONDS, minimum=0),
        fail_rules=tuple(_fail_rules(cloud, groups, axis)),
        cycles=run.whole("cycles", 1, minimum=1, maximum=MOST_CYCLES),
        every=_every(run, axis),
        events=_events(top, axis, groups, pools, slices, {job.entry.job_id for job in jobs}),
    )


Named = Iterator[tuple[str, str, Item]]


def _by_name(found: Named[Item], what: str) -> dict[str, Item]:
    by_name: dict[str, Item] = {}
    for place, name, item in found:
        if name in by_name:
            raise BadScenario(place or what, f"expected each name once, {name!r} is there twice")
        by_name[name] = item
    return by_name


def _known(name: str | None, known: Mapping[str, object], place: str, what: str) -> None:
    if name is not None and name not in known:
        there = ", ".join(sorted(known)[:5]) or "none is given"
        raise BadScenario(place, f"expected the name of a {what} ({there}), got {name!r:.60}")


def _list(top: Fields, key: str) -> Iterator[tuple[str, object]]:
    return items(top.get(key), key) if top.get(key) is not None else iter(())


def _label(found: Fields, key: str) -> str:
    """A name; a plain number is taken as one."""
    value = found.need(key, "a name")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return found.text(key, "")


def _word(found: Fields, key: str, default: str, allowed: Sequence[str]) -> str:
    """One of a few words, read like all words: case does not count, `-` and `_` are alike."""
    value = found.get(key)
    meant = next((word for word in allowed if isinstance(value, str) and plain(word) == plain(value)), None)
    return found.choice(key, default, allowed) if meant is None else meant


# -- groups and pools


def _groups(top: Fields) -> Named[ScalingGroup]:
    value = top.get("groups")
    if isinstance(value, Mapping):
        for name, body in value.items():
            place = f"groups.{name}"
            found = fields({} if body is None else body, place, KNOWN_KEYS)
            if found.get("name") not in (None, name):
                raise wrong(found.at("name"), f"{name}, as it is called above", found.get("name"))
            yield place, str(name), _group({**found.values, "name": str(name)}, place)
        return
    for place, body in _list(top, "groups"):
        found = fields(body, place, KNOWN_KEYS)
        group = _group({**found.values, "name": _label(found, "name")}, place)
        yield place, group.name, group


def _group(mapping: Mapping[str, object], place: str) -> ScalingGroup:
    try:
        return ScalingGroup(mapping)
    except GroupFieldError as error:
        raise BadScenario(f"{place}.{error.field}", error.expected) from None


def _pools(top: Fields) -> Named[QuotaPool]:
    for place, body in _list(top, "quota_pools"):
        found = fields(body, place, ("name", "limit", "quota_metric"))
        name = _label(found, "name")
        metric = "" if found.get("quota_metric") is None else found.text("quota_metric", "")
        yield place, name, QuotaPool(name, found.whole_or_none("limit"), metric)


# -- slices and markers


def _slices(top: Fields, groups: Mapping[str, ScalingGroup], axis: Axis) -> Named[StartSlice]:
    for place, body in _list(top, "slices"):
        found = fields(body, place, _SLICE_KEYS)
        name, group = _label(found, "id"), _label(found, "group")
        _known(group, groups, found.at("group"), "group")
        state = SliceState(_word(found, "state", SliceState.READY.value, _STATES))
        created = axis.of(found, "created")
        yield (
            place,
            name,
            StartSlice(
                id=name,
                group=group,
                state=state,
                created=0 if created is None else created,
                idle_since=axis.of(found, "idle_since"),
                active_tasks=found.whole("active_tasks", 0),
            ),
        )


def _markers(top: Fields, groups: Mapping[str, ScalingGroup], axis: Axis) -> Iterator[Marker]:
    seen = set()
    for place, body in _list(top, "markers"):
        found = fields(body, place, _MARKER_KEYS)
        group = _label(found, "group")
        _known(group, groups, found.at("group"), "group")
        found.need("kind", f"one of {', '.join(MarkerKind)}")
        kind = MarkerKind(_word(found, "kind", "", [kind.value for kind in MarkerKind]))
        if (group, kind) in seen:
            raise BadScenario(place, f"expected one {kind} marker per group, {group!r} has two")
        seen.add((group, kind))
        since = axis.of(found, "since") or 0
        until = _until(found, kind, since, axis)
        default = failures_behind(since, until) if kind is MarkerKind.BACKOFF else 1
        error = "" if found.get("error") in (None, "") else found.text("error", "")
        marker = Marker(group, kind, since, until, error, found.whole("failures", default, minimum=1), since)
        yield replace(marker, acknowledged_at=since) if found.flag("acknowledged", False) else marker


def _until(found: Fields, kind: MarkerKind, since: float, axis: Axis) -> float | None:
    seconds = _MARKER_SECONDS[kind]
    if seconds is None:
        return None
    until = axis.of(found, "until")
    return since + seconds if until is None else until


# -- jobs


def _jobs(top: Fields, axis: Axis) -> Iterator[ScenarioJob]:
    for place, body in _list(top, "jobs"):
        found = fields(body, place, _JOB_KEYS)
        job_id = _label(found, "id")
        given: dict[str, Any] = {key: value for key, value in found.values.items() if key not in ("id", "run_seconds")}
        given["submitted"] = axis.lenient(given.get("submitted", 0))
        seconds = found.get("run_seconds")
        if seconds is None or (isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds >= 0):
            yield ScenarioJob(DemandEntry(job_id=job_id, **given), seconds)
        else:
            problem = f"run_seconds: expected a number of seconds, got {seconds!r:.40}"
            yield ScenarioJob(DemandEntry.refused(job_id, problem))


# -- cloud, run and events


def _fail_rules(cloud: Fields, groups: Mapping[str, ScalingGroup], axis: Axis) -> Iterator[FailRule]:
    value = cloud.get("fail")
    for place, body in items(value, cloud.at("fail")) if value is not None else ():
        found = fields(body, place, _FAIL_KEYS)
        group = _label(found, "group") if "group" in found else None
        _known(group, groups, found.at("group"), "group")
        found.need("error", "the platform's words")
        yield FailRule(
            group=group,
            error=found.text("error", ""),
            after=found.whole("after", 0),
            start=axis.of(found, "from"),
            end=axis.of(found, "until"),
            late=found.number_or_none("late", minimum=0),
        )


def _every(run: Fields, axis: Axis) -> float:
    if run.get("start") is not None:
        axis.time(run.get("start"), run.at("start"))
    every = run.number("every", 10)
    if every <= 0:
        raise wrong(run.at("every"), "a number above 0", every)
    return every


def _events(
    top: Fields,
    axis: Axis,
    groups: Mapping[str, ScalingGroup],
    pools: Mapping[str, QuotaPool],
    slices: Mapping[str, StartSlice],
    jobs: set[str],
) -> tuple[Event, ...]:
    """In order of time; of events at one time the earlier in the file comes first."""
    edited = dict(groups)
    found = [_event(place, body, axis) for place, body in _list(top, "events")]
    ordered = sorted(found, key=lambda pair: pair[1].at)
    for place, event in ordered:
        where = f"{place}.{event.kind}"
        if event.kind in _SLICE_EVENTS:
            _known(event.target, slices, where, "slice")
        elif event.kind is EventKind.JOB_DONE:
            _known(event.target, dict.fromkeys(jobs), where, "job")
        elif event.kind is EventKind.PLATFORM_LIST_ERROR:
            platforms = {group.platform: None for group in groups.values()}
            _known(event.platform, platforms, f"{place}.platform", "platform in use")
        else:
            _known(event.target, groups, where, "group")
        if event.kind is EventKind.SET_GROUP:
            edited[event.target] = _edit(edited[event.target], event, place)
            _known(edited[event.target].quota_pool, pools, f"{place}.quota_pool", "quota pool")
    return tuple(event for _, event in ordered)


def _edit(group: ScalingGroup, event: Event, place: str) -> ScalingGroup:
    try:
        return group.edited(event.changes)
    except GroupFieldError as error:
        raise BadScenario(f"{place}.{error.field}", error.expected) from None


def _event(place: str, body: object, axis: Axis) -> tuple[str, Event]:
    if not isinstance(body, Mapping):
        raise wrong(place, "a mapping with at and what happens", body)
    kinds = [kind for kind in EventKind if kind.value in body]
    if len(kinds) != 1:
        raise BadScenario(place, f"expected exactly one of {', '.join(EventKind)}")
    kind = kinds[0]
    extras = _EVENT_EXTRAS.get(kind, ())
    found = fields(body, place, ("at", kind.value, *extras))
    found.need("at", "a time")
    at = axis.of(found, "at") or 0
    return place, Event(
        at=at,
        kind=kind,
        target=_label(found, kind.value),
        until=_event_end(found, at, axis, kind),
        deadline=axis.of(found, "deadline") if "deadline" in extras else None,
        platform=_label(found, "platform") if kind is EventKind.PLATFORM_LIST_ERROR and "platform" in found else None,
        changes={key: found.values[key] for key in extras if key in found} if kind is EventKind.SET_GROUP else {},
    )


def _event_end(found: Fields, at: float, axis: Axis, kind: EventKind) -> float | None:
    if kind is EventKind.PAUSE_GROUP:
        return axis.of(found, "until")
    lasts = found.number_or_none("for", minimum=0) if "for" in _EVENT_EXTRAS.get(kind, ()) else None
    return None if lasts is None else at + lasts
