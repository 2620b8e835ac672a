"""Stores a cluster file: platforms, quota pools and groups, in one transaction, with one Action per thing touched.

On a later import the file wins for every field that it states; the report lists each change, old → new. So does the
cycle's period, unless configuration fixes it. What the file does not state is never touched: a platform's mode, drains
and pauses, rates, time-outs, prices, pool limits, labels and floors that it does not name. Groups that are not in the
file are left alone and named. What makes a slice what it is (platform, place, device, workers) does not change under
slices that exist: such an import is refused as a whole.
"""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Count

from scaling import clock, feed
from scaling.clusterfile import ClusterImport
from scaling.history import Actor, NewAction, record_many
from scaling.loops.periods import period_seconds, set_period
from scaling.models import Action, Group, Installation, Marker, Platform, QuotaPool, Slice
from scaling.operations.acts import ActKind
from scaling.operations.changes import difference, write
from scaling.operations.errors import OperationRefused
from scaling.operations.group_fields import read_group
from scaling.operations.markers import close
from scaling.platforms.registry import BUILT_KINDS

# The key in Platform.options with each group's slice template: what a real platform's client needs to buy one.
TEMPLATES_OPTION = "slice_templates"

CYCLE = "autoscaler"

_STORED_NAMES = {"idle_threshold": "idle_threshold_seconds"}
# Slices stay what they were bought as, so these do not change under them.
_SHAPE = (
    "platform", "zone", "region", "device_type", "device_variant", "devices_per_worker", "workers_per_slice",
    "capacity_type",
)  # fmt: skip

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that an import made (`before` is None) or changed, with only the fields that differ."""

    what: str
    name: str
    before: Values | None
    after: Values


@dataclass(frozen=True, slots=True)
class Period:
    """How often the cycle runs, in seconds: before, as the file asks, and whether configuration fixes the first."""

    before: float
    asked: float
    is_fixed: bool

    def words(self) -> str:
        if self.is_fixed:
            return (
                f"the file asks for a cycle every {self.asked:g} s, this installation runs one every "
                f"{self.before:g} s (setting IRIS_CYCLE_SECONDS)"
            )
        return f"a cycle runs every {self.asked:g} s from now on, as the file asks; it was every {self.before:g} s"


@dataclass(slots=True)
class ImportReport:
    """What an import did, or would do: things made and changed, in order; other groups by name.

    `period` is None where the file asks for none, or for the one that is.
    """

    changes: list[Change] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    left_alone: list[str] = field(default_factory=list)
    period: Period | None = None

    def made(self, what: str) -> list[Change]:
        """The new ones of `platform`, `quota pool` or `group`."""
        return [change for change in self.changes if change.what == what and change.before is None]

    def changed(self, what: str) -> list[Change]:
        return [change for change in self.changes if change.what == what and change.before is not None]


def import_cluster(actor: Actor, parsed: ClusterImport, *, dry_run: bool = False) -> ImportReport:
    """Write the file, all of it or nothing; with `dry_run` only the report is made. Raises OperationRefused."""
    with transaction.atomic():
        report = _Import(actor, parsed).run()
        if dry_run:
            transaction.set_rollback(True)
    return report


class _Import:
    """One import in its transaction."""

    def __init__(self, actor: Actor, parsed: ClusterImport) -> None:
        self.actor = actor
        self.parsed = parsed
        self.report = ImportReport()
        self.edited: set[str] = set()

    def run(self) -> ImportReport:
        # The installation's row stands for the whole: two imports at once take their turns.
        if Installation.objects.select_for_update().first() is None:
            Installation.objects.create(identity=str(uuid.uuid4()))
        self._groups(self._platforms(), self._pools())
        self._period()
        self._tell()
        return self.report

    def _platforms(self) -> dict[str, Platform]:
        sold_on = (str(group["platform"]) for group in self.parsed.groups)
        return {kind: self._platform(kind) for kind in dict.fromkeys([self.parsed.platform_kind, *sold_on])}

    def _platform(self, kind: str) -> Platform:
        row = Platform.objects.select_for_update().filter(name=kind).first()
        values: dict[str, Any] = {
            "label_prefix": self.parsed.label_prefix,
            "options": self._options(kind, row.options if row else {}),
        }
        if row is None:
            mode = Platform.Mode.ACT if kind == "simulated" else Platform.Mode.OBSERVE
            values |= {"kind": kind, "mode": mode, "simulated": kind not in BUILT_KINDS}
            row = Platform.objects.create(name=kind, **values)
            self._note("platform", kind, None, _filled(values))
        elif row.kind != kind:
            raise OperationRefused(f"platform {kind}: expected kind {kind}, the platform of this name is {row.kind}")
        else:
            self._change("platform", row, values)
        return row

    def _options(self, kind: str, present: Values) -> dict[str, Any]:
        """The platform's own settings and its groups' templates over what is there; notes the groups they change."""
        own = self.parsed.platform_settings if kind == self.parsed.platform_kind else {}
        names = {str(group["name"]) for group in self.parsed.groups if group["platform"] == kind}
        given = {name: dict(settings) for name, settings in self.parsed.templates.items() if name in names}
        known = present.get(TEMPLATES_OPTION, {})
        self.edited |= {name for name in given if name in known and known[name] != given[name]}
        templates = {TEMPLATES_OPTION: {**known, **given}} if known or given else {}
        return {**present, **own, **templates}

    def _pools(self) -> dict[str, QuotaPool]:
        names = [pool.name for pool in self.parsed.pools]
        there = set(QuotaPool.objects.filter(name__in=names).values_list("name", flat=True))
        missing = [name for name in names if name not in there]
        QuotaPool.objects.bulk_create([QuotaPool(name=name) for name in missing])
        for name in missing:
            self._note("quota pool", name, None, {})
        return {pool.name: pool for pool in QuotaPool.objects.filter(name__in=names)}

    def _groups(self, platforms: Mapping[str, Platform], pools: Mapping[str, QuotaPool]) -> None:
        locked = Group.objects.select_for_update(of=("self",)).select_related("quota_pool").order_by("name")
        there = {row.name: row for row in locked}
        live = _live_slices()
        new = []
        for group in self.parsed.groups:
            name = str(group["name"])
            row = there.pop(name, None)
            values = _stored(group, row, platforms, pools)
            if row is None:
                new.append(Group(**values))
                self._note("group", name, None, _filled(values))
            elif self._change("group", row, values, live.get(name, 0)):
                self.edited.add(name)
            else:
                self.report.unchanged.append(name)
        Group.objects.bulk_create(new)
        self.report.left_alone = sorted(there)

    def _period(self) -> None:
        before, asked = period_seconds(CYCLE), self.parsed.cycle_seconds
        if self.parsed.is_period_stated and before != asked:
            is_set = set_period(CYCLE, asked, clock.now())
            self.report.period = Period(before, asked, is_fixed=not is_set)

    def _change(self, what: str, row: Group | Platform, values: Values, live_slices: int = 0) -> bool:
        before, after = difference(row, values)
        fixed = [name for name in _SHAPE if name in after] if live_slices else []
        if fixed:
            raise OperationRefused(
                f"group {row.name}: {fixed[0]} cannot change from {before[fixed[0]]} to {after[fixed[0]]} while "
                f"{live_slices} of its slices exist; drain it first, or give the new kind a name of its own"
            )
        if after:
            write(row, {name: values[name] for name in after})
            self._note(what, row.name, *_narrowed(before, after))
        return bool(after)

    def _note(self, what: str, name: str, before: Values | None, after: Values) -> None:
        self.report.changes.append(Change(what, name, before, after))

    def _tell(self) -> None:
        """The history, the end of permanent markers of edited groups, and the news for those who watch."""
        actions = record_many([self._action(change) for change in [*self.report.changes, *self._period_change()]])
        self._close_markers(actions)
        touched = [action.group for action in actions if action.group]
        if actions:
            topics = ["groups", "platforms", "overview", *(f"group:{name}" for name in touched)]
            feed.publish_many([feed.NewEvent(topic, "imported", {"groups": len(touched)}) for topic in topics])

    def _period_change(self) -> Iterable[Change]:
        period = self.report.period
        if period is not None and not period.is_fixed:
            yield Change("loop", CYCLE, {"period_seconds": period.before}, {"period_seconds": period.asked})

    def _action(self, change: Change) -> NewAction:
        on_group = change.what == "group"
        return NewAction(
            ActKind.IMPORT,
            actor=self.actor,
            group=change.name if on_group else "",
            target="" if on_group else f"{change.what} {change.name}",
            reason=f"cluster file {self.parsed.name}".strip(),
            before=change.before,
            after=change.after,
        )

    def _close_markers(self, actions: Iterable[Action]) -> None:
        """A permanent marker waits for an edit of its group or of what its slices are made from: this was one."""
        causes = {action.group or action.target: action for action in actions}
        held = Marker.objects.select_for_update(of=("self",)).select_related("group__platform")
        for marker in held.filter(group__name__in=self.edited, closed_at=None, kind=Marker.Kind.PERMANENT).order_by(
            "pk"
        ):
            platform = f"platform {marker.group.platform.name}"
            close(self.actor, marker, "the group was edited", causes.get(marker.group.name) or causes[platform])


def _live_slices() -> dict[str, int]:
    live = Slice.objects.filter(state__in=Slice.LIVE, group__isnull=False)
    return dict(live.values_list("group__name").annotate(Count("pk")))


def _stored(
    group: Values, row: Group | None, platforms: Mapping[str, Platform], pools: Mapping[str, QuotaPool]
) -> dict[str, Any]:
    """The group's fields as they are stored, checked by the table that pages and API use."""
    given = {_STORED_NAMES.get(name, name): value for name, value in group.items()}
    if row is not None:
        given.setdefault("min_slices", row.min_slices)
    try:
        values = read_group(given)
    except OperationRefused as wrong:
        raise OperationRefused(f"group {group['name']}: {wrong}") from None
    values["platform"] = platforms[values["platform"]]
    if "quota_pool" in values:
        values["quota_pool"] = pools[values["quota_pool"]]
    return values


def _filled(values: Values) -> dict[str, Any]:
    """What the history keeps of a new row: its fields without the empty ones."""
    texts = {name: str(value) if isinstance(value, Platform | QuotaPool) else value for name, value in values.items()}
    return {name: value for name, value in texts.items() if value not in (None, "", {})}


def _narrowed(before: dict[str, Any], after: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two values with, inside mappings, only the keys that differ: a platform's options hold every group's template."""
    old: dict[str, Any] = {}
    new: dict[str, Any] = {}
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name), after.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            one, other = _narrowed(one, other)
        if one != other:
            old[name], new[name] = one, other
    return old, new
