"""Five thousand deployments in ticks of five seconds, for ten minutes: real loops in real processes.

One instance (ticker and task queue) scales a modelled fleet whose stand-in for Prometheus answers its queries. Checked:
every tick ends before the next begins (no round of the scaler loop is skipped), the memory of the instance's processes
is flat (its median in the last third within 5 % of that in the second), and each tick asks Prometheus exactly two
queries. Printed besides: how long the ticks took, how late the decisions came, and how many statements one takes. Exits
1 when something did not hold.

    .venv/bin/python -m benchmarks.replica_soak [--minutes 10] [--database sqlite|postgres] [--deployments 5000]
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

from benchmarks.replica_plane.instance import Instance
from benchmarks.replica_plane.place import DATABASES, Place, opened
from benchmarks.replica_plane.watching import until

TICK_SECONDS = 5.0
WARMING_SECONDS = 60.0
START_SECONDS = 120.0
MEMORY_TOLERANCE = 0.05
QUERIES_A_TICK = 2
LOOK_SECONDS = 0.25
LOOP = "scaler@one"


@dataclass(frozen=True, slots=True)
class Tick:
    """One round of the scaler loop; durations in seconds. `late`: from when it was due to when it had decided."""

    number: int
    seconds: float
    late: float


@dataclass(slots=True)
class Soak:
    """What was seen; `memory` in MiB of all the instance's processes, once a second."""

    ticks: list[Tick] = field(default_factory=list)
    skipped: int = 0
    memory: list[float] = field(default_factory=list)
    queries: float = 0.0
    lists: float = 0.0
    scaled: int = 0
    statements: int = 0
    cpu: float = 0.0
    errors: list[str] = field(default_factory=list)

    def growth(self) -> float:
        """The median of the last third over that of the second, less one."""
        third = len(self.memory) // 3
        return median(self.memory[2 * third :]) / median(self.memory[third : 2 * third]) - 1

    def misses(self) -> list[str]:
        slow = [tick for tick in self.ticks if tick.seconds > TICK_SECONDS]
        rules = (
            (not self.ticks, "no tick ended"),
            (self.skipped > 0, f"{self.skipped} rounds were skipped: the tick before had not ended"),
            (bool(slow), f"{len(slow)} ticks took longer than {TICK_SECONDS:g} s"),
            (abs(self.growth()) > MEMORY_TOLERANCE, f"memory changed by {self.growth():+.1%}"),
            (self.queries != QUERIES_A_TICK, f"{self.queries:g} Prometheus queries a tick"),
            (bool(self.errors), f"errors in the log, such as: {self.errors[:1]}"),
        )
        return [words for is_missed, words in rules if is_missed]


def p95(values: Sequence[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else (values or [0.0])[0]


def memory_of(instance: Instance) -> float:
    """MiB resident in all its processes together."""
    return sum(_resident_kib(pid) for pid in instance.pids()) / 1024


def _resident_kib(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS:")), 0)


def cpu_of(instance: Instance) -> float:
    """Seconds of CPU that its processes have used so far."""
    return sum(_cpu_ticks(pid) for pid in instance.pids()) / os.sysconf("SC_CLK_TCK")


def _cpu_ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def read_tick() -> Tick | None:
    """The latest round, if it has ended."""
    from django.db.models import Max

    from scaling.models import Loop, Scaler

    loop = Loop.objects.filter(name=LOOP).first()
    if loop is None or loop.running_since or not (loop.last_started_at and loop.last_finished_at):
        return None
    due = loop.last_started_at.timestamp() - loop.last_lateness_ms / 1000
    decided = Scaler.objects.aggregate(at=Max("ticked_at"))["at"]
    late = decided.timestamp() - due if decided else 0.0
    return Tick(loop.round, (loop.last_finished_at - loop.last_started_at).total_seconds(), late)


def skipped() -> int:
    from scaling.models import Loop

    return Loop.objects.values_list("skipped", flat=True).get(name=LOOP)


def end_of_a_round() -> int:
    """Waits until a round has just ended, so that none is counted in part; its number."""
    from scaling.models import Loop

    began = Loop.objects.values_list("round", flat=True).get(name=LOOP)
    while (tick := read_tick()) is None or tick.number <= began:
        time.sleep(LOOK_SECONDS)
    return tick.number


def soak(place: Place, instance: Instance, seconds: float) -> Soak:
    """Look at the running instance for so long, from the end of a round to the end of another."""
    seen = Soak()
    first = last = end_of_a_round()
    before, skipped_before, cpu_before = place.fleet.ask("/_counts"), skipped(), cpu_of(instance)
    ends, measured = time.monotonic() + seconds, 0.0
    while time.monotonic() < ends or (last - first) == 0:
        time.sleep(LOOK_SECONDS)
        if time.monotonic() - measured >= 1:
            measured = time.monotonic()
            seen.memory.append(memory_of(instance))
        tick = read_tick()
        if tick is not None and tick.number > last:
            seen.ticks.append(tick)
            last = tick.number
            after = place.fleet.ask("/_counts")
    rounds = last - first
    seen.cpu = (cpu_of(instance) - cpu_before) / rounds
    seen.skipped = skipped() - skipped_before
    seen.queries = (after["prometheus"] - before["prometheus"]) / rounds
    seen.lists = (after["list"] - before["list"]) / rounds
    seen.scaled = after["scale"] - before["scale"]
    return seen


def statements_of_a_tick() -> int:
    """One more tick in this process, on the same rows."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from scaling import clock
    from scaling.loops.replicas import scaler

    with CaptureQueriesContext(connection) as captured:
        scaler.run(clock.now(), "one")
    return len([query for query in captured.captured_queries if query["sql"].split(" ", 1)[0] in _STATEMENTS])


_STATEMENTS = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")


def all_ticked(deployments: int) -> bool:
    from scaling.models import Scaler

    return Scaler.objects.filter(ticked_at__isnull=False).count() == deployments


def report(seen: Soak, deployments: int, database: str) -> list[str]:
    times, late = [tick.seconds for tick in seen.ticks], [tick.late for tick in seen.ticks]
    return [
        f"replica_soak: {deployments} deployments on {database}, {len(seen.ticks)} ticks, {seen.skipped} skipped",
        f"a tick took {median(times):.2f} s in the median, p95 {p95(times):.2f} s, at most {max(times):.2f} s",
        f"{seen.cpu:.2f} s of CPU a tick, everything else that the instance does included; "
        f"the machine's load was {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores",
        f"decisions came p95 {p95(late):.2f} s after they were due, at most {max(late):.2f} s",
        f"memory {median(seen.memory):.0f} MiB in the median, last third over second {seen.growth():+.1%}",
        f"{seen.queries:g} Prometheus queries and {seen.lists:.2f} lists a tick (the syncer's included), "
        f"{seen.statements} statements a tick, {seen.scaled} calls to scale in all",
    ]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--minutes", type=float, default=10)
    options.add_argument("--deployments", type=int, default=5000)
    options.add_argument("--database", choices=DATABASES, default="sqlite")
    options.add_argument("--keep", action="store_true", help="keep data and logs")
    given = options.parse_args()
    fleet = ["--virtual", "--deployments", str(given.deployments), "--tick", "5"]
    settings = {"LYC_MAX_DEPLOYMENTS": str(given.deployments)}
    with opened(fleet, settings, given.database, keep=given.keep) as place:
        place.fleet.start()
        instance = place.start("one")
        until(lambda: all_ticked(given.deployments), START_SECONDS)
        # A fleet that nobody scaled before has much to put right at first.
        time.sleep(WARMING_SECONDS)
        seen = soak(place, instance, given.minutes * 60)
        instance.kill()
        seen.statements = statements_of_a_tick()
        seen.errors = place.errors()
    print("\n".join(report(seen, given.deployments, given.database)))
    missed = seen.misses()
    print(f"missed: {'; '.join(missed)}" if missed else "every bound was kept")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
