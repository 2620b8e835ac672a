"""What the scheduler reads: the workers of simulated slices that serve, with what runs on them."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from scaling.autoscaler.models import ScalingGroup, Usage
from scaling.loops.autoscaler.records import group_record, worker_record
from scaling.loops.autoscaler.usage import active_usage
from scaling.loops.scheduler.assign import Place
from scaling.models import Group, Slice, Worker
from scaling.platforms.registry import simulated_by

# Reading whole rows of thousands of workers each second would cost more than the decision.
_SLICE_COLUMNS = ("name", "state", "group_id", "idle_since", "drain_since", "gang")
_WORKER_COLUMNS = (
    "slice_id",
    "index",
    "state",
    "idle_since",
    "unknown_since",
    "not_found_count",
    "reported_tasks",
)
SERVING = (Slice.State.READY, Slice.State.DRAINING)


@dataclass(frozen=True, slots=True)
class Seen:
    """Slices by name, their workers by slice id, and how many tasks are active on each worker by its id.

    `group_names` by id; `groups` and `places` are those that take new tasks.
    """

    slices: Mapping[str, Slice]
    workers: Mapping[int, list[Worker]]
    active: Mapping[int, int]
    group_names: Mapping[int, str]
    groups: tuple[ScalingGroup, ...]
    places: tuple[Place, ...]


def see() -> Seen:
    """Read it in the caller's transaction."""
    simulated = simulated_by("platform")
    slices = list(Slice.objects.filter(simulated, state__in=SERVING).order_by().only(*_SLICE_COLUMNS))
    by_slice: defaultdict[int, list[Worker]] = defaultdict(list)
    serving = Worker.objects.filter(simulated_by("slice__platform"), slice__state__in=SERVING)
    for worker in serving.order_by("index").only(*_WORKER_COLUMNS):
        by_slice[worker.slice_id].append(worker)
    groups = {row.pk: row for row in Group.objects.filter(simulated).select_related("platform", "quota_pool")}
    used = active_usage()
    open_ = [row for row in slices if _takes_tasks(row, groups)]
    return Seen(
        slices={row.name: row for row in slices},
        workers=by_slice,
        active={pk: tasks for pk, (tasks, _) in used.items()},
        group_names={pk: row.name for pk, row in groups.items()},
        groups=tuple(group_record(groups[pk]) for pk in sorted({row.group_id for row in open_})),
        places=tuple(_place(row, groups[row.group_id], by_slice[row.pk], used) for row in open_),
    )


def promised_groups() -> dict[str, str]:
    """The group in which each gang has slices of its own, by the gang's job key."""
    live = Slice.objects.filter(state__in=(Slice.State.REQUESTING, Slice.State.BOOTING, Slice.State.READY))
    return dict(live.exclude(gang="").order_by("requested_at").values_list("gang", "group__name"))


def _takes_tasks(row: Slice, groups: Mapping[int, Group]) -> bool:
    """Whether new tasks may come: not on a slice or in a group that drains."""
    if row.state != Slice.State.READY or row.drain_since is not None:
        return False
    return row.group_id in groups and groups[row.group_id].drain_since is None


def _place(row: Slice, group: Group, workers: list[Worker], used: Mapping[int, tuple[int, Usage]]) -> Place:
    # A worker that the platform no longer lists takes the whole slice with it: nothing new starts there.
    whole = not any(worker.state == Worker.State.NOT_FOUND for worker in workers)
    records = {worker.pk: worker_record(worker, *used.get(worker.pk, (0, Usage()))) for worker in workers}
    return Place(row.name, group.name, records if whole else {}, row.gang)
