"""What the control plane is tortured with: rings of groups, and in each round jobs on one of them.

Each job of a round takes exactly one whole slice of its round's group and runs until it is withdrawn, so the number of
slices the cloud may sell to a round is the number of its jobs.
"""

import random
import secrets
from dataclasses import dataclass

from django_q.models import OrmQ

from scaling import operations
from scaling.history import Actor
from scaling.models import Group, Installation, Job, Platform, Slice, Source, Task
from scaling.platforms.registry import cloud_books, cloud_script
from scaling.platforms.simulated import CallKind

ACTOR = Actor.user("torture", Source.SHELL)
GROUPS = tuple(f"ring-{letter}" for letter in "abcdef")
# The last is more than one task asks for in one wave.
SIZES = (1, 2, 3, 5, 8, 8, 20)
CLOUD = {"boot_seconds": 0.5, "boot_spread_seconds": 0.5, "delete_seconds": 0.5}
# Seconds from a call's effect to its answer.
ANSWERS = {CallKind.CREATE: (0.2, 0.6), CallKind.DELETE: (0.2, 0.6), CallKind.LIST: (0.05, 0.2)}


@dataclass(frozen=True, slots=True)
class Round:
    """The jobs of one kill. `first_slice`: its slices' rows have larger ids."""

    number: int
    group: str
    jobs: int
    first_slice: int

    @property
    def source(self) -> str:
        return f"round-{self.number}"


def make_cluster() -> None:
    """An installation with one simulated platform and a ring of groups whose rates never hold anything back."""
    if not Installation.objects.exists():
        Installation.objects.create(identity=secrets.token_hex(8))
    cloud = Platform.objects.create(
        name="simulated", mode=Platform.Mode.ACT, label_prefix="torture", options={"simulation": CLOUD}
    )
    for number, name in enumerate(GROUPS):
        Group.objects.create(
            name=name,
            platform=cloud,
            zone=name,
            device_type="tpu",
            device_variant="v5p-8",
            devices_per_worker=4,
            workers_per_slice=1 + number % 2,
            max_slices=100,
            idle_threshold_seconds=1,
            scale_up_rate=1_000_000,
            scale_down_rate=1_000_000,
        )
    # The books' file is made by the first who opens it.
    cloud_books(cloud).slices()


def script_answers(chance: random.Random) -> None:
    """From now on calls take effect at once and are answered after a while that is new in each round."""
    script = cloud_script(Platform.objects.get())
    script.calm()
    for call, seconds in ANSWERS.items():
        script.slow_down(chance.uniform(*seconds), call)


def new_round(number: int, chance: random.Random) -> Round:
    """The round's own part of the ring, with nothing asked for yet."""
    newest = Slice.objects.order_by("-id").values_list("id", flat=True).first() or 0
    return Round(number, GROUPS[number % len(GROUPS)], chance.choice(SIZES), newest)


def ask(round_: Round) -> None:
    """Put the round's jobs: on slices of two workers each is a gang of two tasks."""
    workers = Group.objects.get(name=round_.group).workers_per_slice
    jobs = [
        {
            "id": f"{round_.number}-{index}",
            "resources": {"tpu": workers},
            "gang": workers > 1,
            "constraints": [round_.group],
        }
        for index in range(round_.jobs)
    ]
    operations.put_demand(ACTOR, round_.source, jobs)


def withdraw(round_: Round) -> None:
    """Take the round's jobs back, so that its slices fall idle."""
    operations.put_demand(ACTOR, round_.source, [])


def forget_queue() -> None:
    """Lose every task that waits, as a queue in memory does when its server dies too."""
    OrmQ.objects.all().delete()


def running_jobs(round_: Round) -> int:
    """How many of the round's jobs have all their workers."""
    jobs = Job.objects.filter(source=round_.source, state=Job.State.RUNNING, pending_tasks=0)
    active = Task.objects.filter(job__in=jobs, state__in=Task.ACTIVE, worker__slice__group__name=round_.group)
    return active.values("job").distinct().count()
