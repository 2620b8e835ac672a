"""A whole cluster file: what it says of the platform and the period, and the groups and pools it expands to."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from scaling.autoscaler.scaling_group import GroupFieldError, ScalingGroup
from scaling.clusterfile.entries import PLATFORM_KINDS, GroupMapping, Template
from scaling.clusterfile.scale_groups import scale_groups
from scaling.clusterfile.sections import ClusterFileError, Notes, Section, shown
from scaling.clusterfile.tpu_pools import tpu_pool_groups
from scaling.clusterfile.values import duration, period, settings, text

DEFAULT_LABEL_PREFIX = "iris"
DEFAULT_CYCLE_SECONDS = 10.0
MAX_GROUPS = 10_000

_LABEL_PREFIX = re.compile(r"[a-z]([a-z0-9-]{0,28}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class PoolImport:
    """A quota pool that groups of the file share; the file knows no limits."""

    name: str


@dataclass(frozen=True, slots=True)
class ClusterImport:
    """A cluster file, understood.

    `platform_kind` is the platform section's (or the groups' only one), `groups` mappings with the fields of
    AUTOSCALER section 1 (durations in seconds, sizes in bytes), in the file's order. `platform_settings` are the
    platform section's own keys, `templates` each group's slice template: for the platform's client, not judged here.
    `is_period_stated`: whether `cycle_seconds` stands in the file, and is not the usual one.
    `not_understood` are the paths of keys without a meaning here; `warnings` are sentences.
    """

    name: str
    platform_kind: str
    label_prefix: str
    cycle_seconds: float
    groups: tuple[GroupMapping, ...]
    pools: tuple[PoolImport, ...]
    platform_settings: Mapping[str, object]
    templates: Mapping[str, Mapping[str, object]]
    not_understood: tuple[str, ...]
    warnings: tuple[str, ...]
    is_period_stated: bool = True


@dataclass(frozen=True, slots=True)
class _PlatformSection:
    kind: str
    label_prefix: str
    settings: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Defaults:
    idle_threshold_seconds: float | None
    cycle_seconds: float | None


def read_cluster(parsed: object) -> ClusterImport:
    """Everything in the file or nothing: raises ClusterFileError with a sentence for each thing that is wrong."""
    if not isinstance(parsed, Mapping):
        raise ClusterFileError("", f"expected a cluster file, which is a mapping, got {shown(parsed)}")
    notes = Notes()
    root = Section(parsed, "", notes)
    cluster_name = root.get("name", text, "")
    platform, defaults = _PlatformSection("", DEFAULT_LABEL_PREFIX, {}), _Defaults(None, None)
    with notes.gathering():
        platform = _platform(root.section("platform"))
    with notes.gathering():
        defaults = _defaults(root.section("defaults"))
    made: dict[str, tuple[GroupMapping, Template]] = {}
    with notes.gathering():
        made = _expanded(root, platform.kind, defaults.idle_threshold_seconds)
    if notes.faults:
        raise ClusterFileError.of(notes.faults)
    root.done()
    groups = tuple(group for group, _ in made.values())
    return ClusterImport(
        name=cluster_name,
        platform_kind=platform.kind or str(groups[0]["platform"]),
        label_prefix=platform.label_prefix,
        cycle_seconds=DEFAULT_CYCLE_SECONDS if defaults.cycle_seconds is None else defaults.cycle_seconds,
        groups=groups,
        pools=_pools(groups),
        platform_settings=platform.settings,
        templates={name: template.settings for name, (_, template) in made.items() if template.settings},
        not_understood=tuple(notes.not_understood),
        warnings=tuple(notes.warnings),
        is_period_stated=defaults.cycle_seconds is not None,
    )


def _platform(section: Section) -> _PlatformSection:
    prefix = section.get("label_prefix", _label_prefix, DEFAULT_LABEL_PREFIX)
    named = [kind for kind in PLATFORM_KINDS if kind in section]
    if len(named) > 1:
        raise ClusterFileError(section.path, f"expected one platform, got {' and '.join(named)}")
    own = settings(section.section(named[0])) if named else {}
    section.done()
    return _PlatformSection(named[0] if named else "", prefix, own)


def _label_prefix(value: object) -> str:
    if not isinstance(value, str) or not _LABEL_PREFIX.fullmatch(value):
        raise ValueError(f"expected at most 30 lower-case letters, digits and dashes, got {shown(value)}")
    return value


def _defaults(section: Section) -> _Defaults:
    autoscaler = section.section("autoscaler")
    found = _Defaults(
        idle_threshold_seconds=autoscaler.get("scale_down_delay", duration, None),
        cycle_seconds=autoscaler.get("evaluation_interval", period, None),
    )
    if autoscaler.get("scale_up_delay", duration, None) is not None:
        section.notes.warn(autoscaler.at("scale_up_delay"), "has no effect: demand is served in the next cycle")
    autoscaler.done()
    section.done()
    return found


def _expanded(root: Section, platform: str, idle_threshold: float | None) -> dict[str, tuple[GroupMapping, Template]]:
    """Every group by name with its template; each is checked as the planner will read it."""
    found: dict[str, tuple[GroupMapping, Template]] = {}
    entries = chain(
        tpu_pool_groups(root.section("tpu_pools"), platform), scale_groups(root.section("scale_groups"), platform)
    )
    for group, template in entries:
        name = str(group["name"])
        if name in found:
            raise ClusterFileError(name, "expected each group once, two entries make this one")
        if len(found) == MAX_GROUPS:
            raise ClusterFileError("", f"expected at most {MAX_GROUPS:,} groups, the file makes more")
        if idle_threshold is not None:
            group["idle_threshold"] = idle_threshold
        _check(group)
        found[name] = group, template
    if not found and not root.notes.faults:
        raise ClusterFileError("", "expected groups under tpu_pools or scale_groups, got none")
    return found


def _check(group: GroupMapping) -> None:
    try:
        ScalingGroup(group)
    except GroupFieldError as error:
        raise ClusterFileError(str(group["name"])[:200], str(error)) from None


def _pools(groups: Iterable[GroupMapping]) -> tuple[PoolImport, ...]:
    names = (str(group["quota_pool"]) for group in groups if group.get("quota_pool"))
    return tuple(PoolImport(name) for name in dict.fromkeys(names))
