"""A whole cluster in the database at once, for looking at pages and for tests of size: drawn by seed, made in bulk.

`tpu_cluster` has the shape of a production TPU cluster: 82 groups of 6 pools over 8 TPU zones and CPU groups.
`wide_cluster` has any number of groups and jobs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any

from scaling.models import Action, Group, GroupStatus, Hint, Job, Marker, Platform, QuotaPool, Slice, Task, Worker
from scaling.testing.builders import (
    after,
    before,
    make_checks,
    make_cycle,
    make_installation,
    make_loop,
    make_platform,
)

TPU_ZONES = {
    "v5e": ("europe-west4-b", "us-west4-a"),
    "v6e": ("europe-west4-a", "us-east1-d", "us-east5-b"),
    "v5p": ("us-central1-a", "us-east5-a"),
    "v4": ("us-central2-b",),
}
# pool, family, capacity type, first priority, {size: max slices}
POOLS: tuple[tuple[str, str, str, int, dict[int, int]], ...] = (
    ("v5e-serving", "v5e", "preemptible", 10, {4: 32, 8: 16}),
    ("v5e-preemptible", "v5e", "preemptible", 10, {16: 256, 32: 128, 64: 64, 128: 32, 256: 16}),
    ("v6e-preemptible", "v6e", "preemptible", 10, {4: 1024, 8: 512, 16: 256, 32: 128, 64: 64, 128: 32, 256: 16}),
    ("v5p-preemptible", "v5p", "preemptible", 20, {8 * 2**n: 2048 // 2**n for n in range(9)}),
    ("v4-preemptible", "v4", "preemptible", 20, {8 * 2**n: 2048 // 2**n for n in range(10)}),
    ("v4-reserved", "v4", "reserved", 1000, {8 * 2**n: 256 // 2**n for n in range(9)}),
)
CPU_ZONES = (
    "us-central1-a", "us-central2-b", "us-east1-b", "us-east1-d", "us-east5-a",
    "us-east5-b", "us-west1-a", "us-west4-a", "europe-west4-a", "europe-west4-b",
)  # fmt: skip
PREFIX = {"v5e": "v5litepod"}
SINGLE_VM = {"v5e": (1, 4, 8), "v6e": (1, 4, 8)}
MESSAGES = {
    "STOCKOUT": 'There is no more capacity in the zone "{zone}"; you can try in another zone where Cloud TPU Nodes '
    "can be created. [EID: 0x7b1a4c33e21d0f55]",
    "BACKOFF": "The service is currently unavailable. Please try again later. (503)",
    "QUOTA_EXCEEDED": "Quota limit 'TPUV5sPreemptiblePodPerProjectPerZone' has been exceeded. Limit: 128 in {zone}.",
    "CREATE_REFUSED": "Permission 'tpu.nodes.create' denied on 'projects/example-project/locations/{zone}'",
}
MARKER_KIND = {"STOCKOUT": "stockout", "BACKOFF": "backoff", "QUOTA_EXCEEDED": "quota", "CREATE_REFUSED": "permanent"}


@dataclass(slots=True)
class Sample:
    """What is being made; lists are written by `save` in an order that foreign keys allow."""

    now: datetime
    random: Random
    platform: Platform
    # Groups that block a job which waits for any.
    blocking: int = 3
    groups: list[Group] = field(default_factory=list)
    statuses: list[GroupStatus] = field(default_factory=list)
    slices: list[Slice] = field(default_factory=list)
    workers: list[Worker] = field(default_factory=list)
    markers: list[Marker] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    hints: list[Hint] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)


def tpu_cluster(now: datetime, *, jobs: int = 240, seed: int = 7) -> list[Group]:
    """The 82-group TPU cluster with some of everything: busy, idle and booting slices, markers, pending jobs."""
    sample = Sample(now, Random(seed), make_platform("gcp", kind="gcp", simulated=True))
    sample.groups = _tpu_groups(sample.platform)
    return _fill(sample, jobs)


def wide_cluster(now: datetime, *, groups: int = 2000, jobs: int = 10_000, seed: int = 7) -> list[Group]:
    """Many groups: 20 GPU variants over 25 zones, as often as needed."""
    sample = Sample(now, Random(seed), make_platform("simulated"), blocking=20)
    sample.groups = Group.objects.bulk_create(_wide_groups(sample.platform, groups))
    return _fill(sample, jobs)


def _tpu_groups(platform: Platform) -> list[Group]:
    pools = {
        f"{pool}/{zone}": QuotaPool(name=f"{pool}/{zone}", limit=8192, quota_metric=f"TPU{family}PerProjectPerZone")
        for pool, family, *_ in POOLS
        for zone in TPU_ZONES[family]
    }
    stored = {row.name: row for row in QuotaPool.objects.bulk_create(pools.values())}
    groups = [group for pool in POOLS for group in _pool_groups(platform, stored, *pool)]
    groups += [
        Group(
            name=f"cpu_vm_e2_highmem_2_ondemand-{zone}", platform=platform, zone=zone, region=zone.rpartition("-")[0],
            device_type="cpu", worker_cpu=2, worker_memory=16 * 2**30, worker_disk=50 * 10**9, priority=500,
            max_slices=4,
        )
        for zone in CPU_ZONES
    ]  # fmt: skip
    return Group.objects.bulk_create(groups)


def _pool_groups(
    platform: Platform,
    pools: dict[str, QuotaPool],
    pool: str,
    family: str,
    capacity: str,
    base: int,
    sizes: dict[int, int],
) -> Iterator[Group]:
    for zone in TPU_ZONES[family]:
        for index, (size, most) in enumerate(sizes.items()):
            chips = size if family in SINGLE_VM else size // 2
            per_vm = chips if chips in SINGLE_VM.get(family, ()) else 4
            yield Group(
                name=f"tpu_{pool}_{size}-{zone}", platform=platform, zone=zone, region=zone.rpartition("-")[0],
                device_type="tpu", device_variant=f"{PREFIX.get(family, family)}-{size}", devices_per_worker=per_vm,
                workers_per_slice=max(1, chips // per_vm), worker_cpu=180, worker_memory=448 * 10**9,
                worker_disk=100 * 10**9, capacity_type=capacity, priority=base + 10 * index,
                buffer_slices=2 if index == 0 and capacity == "preemptible" else 0, max_slices=most,
                quota_pool=pools[f"{pool}/{zone}"], allocation_tier=index + 1,
            )  # fmt: skip


def _wide_groups(platform: Platform, number: int) -> Iterator[Group]:
    for index in range(number):
        variant, zone = index % 20, index // 20 % 25
        yield Group(
            name=f"gpu-m{variant:02d}-{index:04d}", platform=platform, zone=f"region{zone // 3}-{'abc'[zone % 3]}",
            region=f"region{zone // 3}", device_type="gpu", device_variant=f"m{variant:02d}", devices_per_worker=8,
            worker_cpu=128, worker_memory=2**40, max_slices=32, priority=100 + index % 5,
        )  # fmt: skip


def _fill(sample: Sample, jobs: int) -> list[Group]:
    make_installation(demonstration=False)
    cycle = make_cycle(before(sample.now, 6), counts={"requested": 3, "released": 1, "hints": jobs // 3})
    for name, period in (("autoscaler", 10), ("scheduler", 1), ("workers", 5), ("heartbeat", 2), ("retention", 3600)):
        make_loop(name, sample.now, period)
    for group in sample.groups:
        _add_group_state(sample, group, cycle.pk)
    _save_slices(sample)
    _add_jobs(sample, jobs)
    GroupStatus.objects.bulk_create(sample.statuses)
    Job.objects.bulk_create(sample.jobs, batch_size=2000)
    Hint.objects.bulk_create(sample.hints, batch_size=2000)
    Task.objects.bulk_create(sample.tasks, batch_size=2000)
    _add_actions(sample, cycle.pk)
    Action.objects.bulk_create(sample.actions, batch_size=2000)
    return sample.groups


def _save_slices(sample: Sample) -> None:
    Slice.objects.bulk_create(sample.slices, batch_size=2000)
    Worker.objects.bulk_create(sample.workers, batch_size=2000)
    Marker.objects.bulk_create(sample.markers)


def _outcome(sample: Sample, group: Group) -> str:
    if group.device_variant.startswith("v5p") and group.zone == "us-central1-a":
        return (
            "STOCKOUT"
            if group.allocation_tier == 3
            else "TIER_BLOCKED"
            if (group.allocation_tier or 0) > 3
            else "AVAILABLE"
        )
    if group.max_slices <= 1:
        return "CAPACITY_EXCEEDED"
    chances = {"AVAILABLE": 80, "STOCKOUT": 4, "BACKOFF": 3, "QUOTA_EXCEEDED": 2, "PROBING": 2, "PAUSED": 1,
               "DRAINING": 1, "CREATE_REFUSED": 1, "CAPACITY_EXCEEDED": 3}  # fmt: skip
    return sample.random.choices(list(chances), list(chances.values()))[0]


def _add_group_state(sample: Sample, group: Group, cycle: int) -> None:
    draw, now = sample.random, sample.now
    outcome = _outcome(sample, group)
    room = min(group.max_slices, max(1, 24 // group.workers_per_slice))
    held = group.max_slices if outcome == "CAPACITY_EXCEEDED" and group.max_slices <= 32 else draw.randint(0, room)
    states = draw.choices(["BUSY", "IDLE", "BOOTING", "REQUESTING", "DRAINING"], [60, 22, 9, 4, 2], k=held)
    for number, state in enumerate(states):
        _add_slice(sample, group, number, state)
    detail = _add_marker(sample, group, outcome)
    if outcome in {"PAUSED", "DRAINING"}:
        _order(sample, group, outcome)
    until = after(now, draw.randint(60, 840))
    sample.statuses.append(
        GroupStatus(
            group=group, cycle_id=cycle, at=before(now, 6), outcome=outcome, detail=detail,
            checks=make_checks(outcome, detail), assigned=draw.randint(0, 40) if draw.random() < 0.4 else 0,
            deficit=draw.choice((0, 0, 0, 1, 3)), target=group.buffer_slices, used=states.count("BUSY"),
            capacity_remaining=max(0, group.max_slices - held), quota_remaining=4096 if group.quota_pool_id else None,
            stockout_until=until if outcome == "STOCKOUT" else None,
            backoff_expires_at=until if outcome == "BACKOFF" else None,
            slices={"READY": states.count("BUSY") + states.count("IDLE"), "BOOTING": states.count("BOOTING")},
        )
    )  # fmt: skip


def _add_slice(sample: Sample, group: Group, number: int, state: str) -> None:
    draw, now = sample.random, sample.now
    name = f"{group.name.lower().replace('_', '-')[:46]}-{draw.getrandbits(32):08x}"
    ready = state in {"BUSY", "IDLE", "DRAINING"}
    idle = before(now, draw.randint(5, 420)) if state == "IDLE" else None
    row = Slice(
        name=name, group=group, platform=sample.platform, state="READY" if state in {"BUSY", "IDLE"} else state,
        requested_at=before(now, 1000 if ready else draw.randint(5, 300)), ready_at=before(now, 800) if ready else None,
        idle_since=idle, reason="drained by ana" if state == "DRAINING" else "",
    )  # fmt: skip
    sample.slices.append(row)
    sample.workers += [
        Worker(
            name=f"{name}-{index}", slice=row, index=index, state="READY" if ready else "BOOTING",
            heartbeat_at=before(now, 2) if ready else None, heard_at=before(now, 2) if ready else None,
            idle_since=idle, address=f"10.1.{number}.{index % 250}",
        )
        for index in range(group.workers_per_slice)
    ]  # fmt: skip


def _add_marker(sample: Sample, group: Group, outcome: str) -> str:
    if outcome not in MARKER_KIND:
        return {"TIER_BLOCKED": f"tier 3 of pool {group.quota_pool} has no stock"}.get(outcome, "")
    draw, now = sample.random, sample.now
    words = MESSAGES[outcome].format(zone=group.zone)
    known = draw.random() < 0.4
    sample.markers.append(
        Marker(
            group=group, kind=MARKER_KIND[outcome], since=before(now, draw.randint(60, 9000)), message=words,
            until=None if outcome == "CREATE_REFUSED" else after(now, draw.randint(60, 840)),
            failures=draw.randint(1, 9), last_failure_at=before(now, draw.randint(5, 600)),
            needs_person=outcome == "CREATE_REFUSED", acknowledged_at=before(now, 40) if known else None,
            acknowledged_by="ana" if known else "",
            acknowledged_note="Ticket 4711 with the vendor, expected back tonight" if known else "",
        )
    )  # fmt: skip
    return words


def _order(sample: Sample, group: Group, outcome: str) -> None:
    kind = "drain" if outcome == "DRAINING" else "pause"
    setattr(group, f"{kind}_since", before(sample.now, 900))
    setattr(group, f"{kind}_by", "ana")
    setattr(group, f"{kind}_reason", "maintenance of the rack")
    group.save()


def _add_jobs(sample: Sample, number: int) -> None:
    codes = ("scaling_up", "waiting_for_workers", "tier_blocked", "insufficient_resources", "no_matching_group")
    busy = [row for row in sample.workers if row.slice.state == "READY" and row.slice.idle_since is None]
    blocked = [row for row in sample.statuses if row.outcome != "AVAILABLE"]
    for index in range(number):
        group = sample.random.choice(sample.groups)
        running = index < len(busy) and index % 3 != 0
        tasks = sample.random.choice((1, 1, 2, 4, 8, 16))
        job = Job(
            source="slurm" if index % 4 else "kueue", job_id=f"train-{sample.random.choice(WORDS)}-{index:05d}",
            spec=_spec(group, tasks), spec_hash=f"{group.pk:032d}{tasks:032d}",
            state="running" if running else "pending", tier=sample.random.choice(("production", "standard", "batch")),
            priority=sample.random.choice((100, 100, 100, 200, 50)), gang=tasks > 4, tasks=tasks,
            pending_tasks=0 if running else tasks, running_tasks=tasks if running else 0,
            submitted_at=before(sample.now, sample.random.randint(20, 40_000)),
        )  # fmt: skip
        sample.jobs.append(job)
        if running:
            sample.tasks.append(_task(sample, job, busy[index]))
        else:
            sample.hints.append(_hint(sample, job, sample.random.choice(codes), blocked))


WORDS = ("llama", "olmo", "qwen", "gemma", "whisper", "vit", "bert", "moe")


def _spec(group: Group, tasks: int) -> dict[str, Any]:
    kind = group.device_type
    device: dict[str, Any] = {kind: {"variant": group.device_variant, "count": group.devices_per_worker}}
    return {"resources": device if kind != "cpu" else {"cpu": 2, "memory": "8GiB"}, "tasks": tasks,
            "constraints": [group.zone]}  # fmt: skip


def _task(sample: Sample, job: Job, worker: Worker) -> Task:
    return Task(job=job, worker=worker, state="running", devices=4, assigned_at=before(sample.now, 600))


def _hint(sample: Sample, job: Job, code: str, blocked: list[GroupStatus]) -> Hint:
    picked = sample.random.sample(blocked, min(len(blocked), sample.blocking)) if code == "tier_blocked" else []
    for row in picked:
        row.waiting_jobs += 1
        row.waiting_tasks += job.tasks
        row.waiting_alone += len(picked) == 1
    text = {
        "scaling_up": "2 slices requested in tpu_v6e-preemptible_8-us-east5-b",
        "waiting_for_workers": "1 slice is booting in tpu_v5p-preemptible_8-us-east5-a",
        "tier_blocked": ", ".join(f"{row.group.name} {row.outcome}" for row in picked) or "every group is full",
        "insufficient_resources": "one task needs 512 GiB, the largest empty worker holds 448 GB",
        "no_matching_group": "no group has device variant h101; the nearest is h100",
    }[code]
    ways = [
        {
            "group": row.group.name,
            "outcome": row.outcome,
            "until": until.isoformat() if (until := row.stockout_until or row.backoff_expires_at) else None,
        }
        for row in picked
    ]
    since = before(sample.now, sample.random.randint(5, 3000))
    return Hint(job=job, code=code, reason=f"{code}: {text}", blocked_by=ways, since=since)


def _add_actions(sample: Sample, cycle: int) -> None:
    moment = 7200.0
    for row in sample.slices:
        moment = max(1.0, moment - sample.random.uniform(1, 30))
        kind = "slice_ready" if row.state == "READY" else "scale_up"
        sample.actions.append(
            Action(at=before(sample.now, moment), kind=kind, group=row.group.name if row.group else "", slice=row.name,
                   reason="booted in 95 s" if kind == "slice_ready" else "deficit 1", cycle=cycle)
        )  # fmt: skip
    for marker in sample.markers:
        sample.actions.append(
            Action(
                at=marker.since, kind="create_failed", group=marker.group.name, reason=marker.message, outcome="failed"
            )
        )
        sample.actions.append(
            Action(
                at=marker.since, kind="marker_set", group=marker.group.name, reason=f"{marker.kind}: {marker.message}"
            )
        )
    sample.actions.append(
        Action(at=before(sample.now, 900), kind="set_limits", actor_kind="user", actor="ana", source="page",
               group=sample.groups[0].name, reason="more room for the release", before={"max_slices": 16},
               after={"max_slices": 32})
    )  # fmt: skip
    sample.actions.sort(key=lambda action: action.at)
