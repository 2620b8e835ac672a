"""Three instances, forty deployments, LYC_MAX_DEPLOYMENTS=25: killed one after the other under load.

All are real processes on one database: a ticker and a task queue for each instance, and a fleet that lists new replicas
late and answers calls to scale late, so that a kill between call and answer and a second purchase have every chance.
Checked: each deployment has exactly one scaler at any moment; what a killed instance held is taken over within
LYC_SCALER_ID_TTL + LYC_RECONCILE_INTERVAL + 2 s and ticked soon after; no call buys twice, by the Gateway's own log;
cooldowns and windows are kept; what is beyond all limits in the end is unassigned. Exits 1 when something did not hold.

    .venv/bin/python -m benchmarks.replica_instances [--kills N] [--database sqlite|postgres] [--short] [--json]
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.replica_plane import proof
from benchmarks.replica_plane.place import DATABASES, Place, opened
from benchmarks.replica_plane.watching import Watch, read_memories, until

NAMES = ("one", "two", "three")
DEPLOYMENTS = 40
LIMIT = 25
START_SECONDS = 60.0
FAULTS = {"scale": "slow", "slow_seconds": 0.3, "lag_seconds": 2}


@dataclass(frozen=True, slots=True)
class Pace:
    """Durations in seconds; `cooldowns` are those of every other deployment, `day` one course of the load."""

    ttl: float
    heartbeat: float
    reconcile: float
    cooldowns: tuple[float, float]
    window: float
    day: float
    busy: float

    @property
    def takeover(self) -> float:
        """The longest that a dead instance's deployments may be without another."""
        return self.ttl + self.reconcile + 2

    @property
    def ticked(self) -> float:
        """The longest until each of them has been ticked again: its holder's next tick, with its calls."""
        return self.takeover + 2 * self.heartbeat + 2

    def settings(self) -> dict[str, str]:
        return {
            "IRIS_WORKERS": "2",
            "LYC_MAX_DEPLOYMENTS": str(LIMIT),
            "LYC_SCALER_ID_TTL": f"{self.ttl:g}s",
            "LYC_SCALER_HEARTBEAT_INTERVAL": f"{self.heartbeat:g}s",
            "LYC_RECONCILE_INTERVAL": f"{self.reconcile:g}s",
            "LYC_SCRAPE_INTERVAL": "5s",
            "LYC_PROMETHEUS_WINDOW": "5s",
        }

    def fleet(self) -> list[str]:
        wanted = {"--deployments": DEPLOYMENTS, "--replicas": 1, "--tick": 0.5, "--warmup": 1, "--load-scale": 2}
        wanted |= {"--speed": 3600 / self.day, "--stabilization-window": self.window}
        return ["--virtual", *(f"{name}={value:g}" for name, value in wanted.items())]


FULL = Pace(ttl=30, heartbeat=5, reconcile=5, cooldowns=(5, 60), window=60, day=240, busy=60)
SHORT = Pace(ttl=8, heartbeat=1, reconcile=1, cooldowns=(1, 15), window=20, day=40, busy=6)


@dataclass(slots=True)
class Found:
    """What a run saw. `takeovers` and `ticked` in seconds after each kill, `moved` how many changed hands by it.

    The lists of texts are sentences about what is wrong.
    """

    takeovers: list[float] = field(default_factory=list)
    ticked: list[float] = field(default_factory=list)
    moved: list[int] = field(default_factory=list)
    looks: int = 0
    calls: int = 0
    unanswered: int = 0
    not_one_scaler: list[str] = field(default_factory=list)
    too_late: list[str] = field(default_factory=list)
    double_calls: list[str] = field(default_factory=list)
    broken_cooldowns: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    unassigned: int = 0
    errors: list[str] = field(default_factory=list)

    def wrong(self) -> list[str]:
        left = DEPLOYMENTS - LIMIT
        beyond = [] if self.unassigned == left else [f"{self.unassigned} deployments are unassigned, not {left}"]
        return [
            *(*self.not_one_scaler, *self.too_late, *self.double_calls, *self.broken_cooldowns),
            *(*self.forgotten, *beyond, *self.errors),
        ]


class Trial:
    """One run in a place."""

    def __init__(self, place: Place, pace: Pace) -> None:
        self.place, self.pace, self.found = place, pace, Found()
        self.cooldowns: dict[str, float] = {}

    def run(self, kills: int) -> Found:
        fleet, found = self.place.fleet, self.found
        fleet.start()
        self._prepare()
        first = fleet.replicas()
        for name in NAMES:
            self.place.start(name)
        with Watch(LIMIT) as watch:
            if until(lambda: watch.all_held(DEPLOYMENTS) and watch.all_ticked(DEPLOYMENTS, 0), START_SECONDS) > 1e6:
                found.too_late.append(f"not every deployment had a scaler within {START_SECONDS:g} s of the start")
            for number in range(kills):
                time.sleep(self.pace.busy)
                name = busiest(watch)
                self._kill(name, watch)
                if number < kills - 1:
                    self.place.start(name)
            time.sleep(self.pace.busy)
            self._leave_one(busiest(watch))
            found.looks, found.not_one_scaler = watch.looks, watch.wrong
        self._prove(first)
        return found

    def _prepare(self) -> None:
        """Every other deployment rests for long, so that a forgotten cooldown shows."""
        fleet = self.place.fleet
        fleet.ask("/_faults", FAULTS)
        for number, name in enumerate(fleet.replicas()):
            self.cooldowns[name] = self.pace.cooldowns[number % 2]
            fleet.ask("/_deployments", {"id": name, "cooldown": self.cooldowns[name]})

    def _kill(self, name: str, watch: Watch) -> None:
        """SIGKILL while one of its calls is under way, where that happens in time, and wait for the others."""
        until(lambda: _is_calling(name), self.pace.busy)
        killed_at = self.place.instances[name].kill()
        before, moved = read_memories(), len(watch.handovers)
        seconds = until(lambda: watch.all_held(DEPLOYMENTS, without=name), 2 * self.pace.takeover)
        self.found.takeovers.append(seconds)
        if seconds > self.pace.takeover:
            self.found.too_late.append(f"{name}'s deployments were taken over after {seconds:.1f} s")
        until(lambda: watch.all_ticked(DEPLOYMENTS, killed_at), self.pace.ticked)
        ticked = time.time() - killed_at
        self.found.ticked.append(ticked)
        if ticked > self.pace.ticked:
            late = [id_ for id_, one in watch.latest.items() if one.ticked <= killed_at]
            self.found.too_late.append(f"not ticked {ticked:.1f} s after {name} was killed: {', '.join(late)}")
        self.found.moved.append(len(watch.handovers) - moved)
        for one in watch.handovers[moved:]:
            lacks = proof.forgotten(before[one.deployment], one.memory, one.at, self.pace.window)
            self.found.forgotten += [f"{one.deployment}: {words}" for words in lacks]

    def _leave_one(self, name: str) -> None:
        """Kill another for good: what the last one has no room for is unassigned, and told so."""
        self.place.instances[name].kill()
        patience = self.pace.takeover + 2 * self.pace.reconcile + 2
        until(lambda: self._unassigned() == DEPLOYMENTS - LIMIT, patience + 2)
        self.found.unassigned = self._unassigned()

    def _unassigned(self) -> int:
        from scaling import clock, scalers
        from scaling.models import Deployment

        return Deployment.objects.filter(scalers.is_unassigned(clock.now())).count()

    def _prove(self, first: Mapping[str, list[str]]) -> None:
        from scaling.models import Action

        for instance in self.place.instances.values():
            instance.kill()
        calls = self.place.fleet.calls()
        sent = proof.match(calls, first, proof.read_intents())
        self.found.calls = len(calls)
        self.found.unanswered = Action.objects.filter(kind="scale_answer", outcome="unknown").count()
        self.found.double_calls = list(proof.double_calls(sent))
        self.found.broken_cooldowns = list(proof.broken_cooldowns(sent, self.cooldowns))
        self.found.errors = self.place.errors()


def busiest(watch: Watch) -> str:
    """The instance that holds most."""
    now = time.time()
    ((name, _),) = Counter(one.holder for one in watch.latest.values() if one.is_held(now)).most_common(1)
    return name


def _is_calling(name: str) -> bool:
    from scaling.models import Scaler

    return Scaler.objects.filter(holder=name, pending__isnull=False).exists()


def report(found: Found, database: str, pace: Pace) -> list[str]:
    taken = ", ".join(f"{seconds:.1f} s" for seconds in found.takeovers)
    ticked = ", ".join(f"{seconds:.1f} s" for seconds in found.ticked)
    moved = ", ".join(map(str, found.moved))
    return [
        f"replica_instances on {database}: {len(found.takeovers)} kills, {found.looks} looks at the scalers",
        f"{moved} deployments taken over after {taken}, at most {pace.takeover:g} s allowed",
        f"all ticked again after {ticked}, at most {pace.ticked:g} s allowed",
        f"{found.calls} calls to scale, {found.unanswered} of them cut off by a kill, "
        f"{len(found.double_calls)} bought twice, {len(found.broken_cooldowns)} within a cooldown",
        f"{len(found.forgotten)} memories with something forgotten",
        f"{found.unassigned} deployments unassigned at the end",
    ]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--kills", type=int, default=3)
    options.add_argument("--database", choices=DATABASES, default="sqlite")
    options.add_argument("--short", action="store_true", help="shorter times, as the tests run it")
    options.add_argument("--json", action="store_true", help="print what was seen as JSON")
    options.add_argument("--keep", action="store_true", help="keep data and logs")
    given = options.parse_args()
    pace = SHORT if given.short else FULL
    with opened(pace.fleet(), pace.settings(), given.database, keep=given.keep) as place:
        found = Trial(place, pace).run(given.kills)
    wrong = found.wrong()
    shown: dict[str, Any] = {**asdict(found), "takeover_allowed": pace.takeover}
    print(json.dumps(shown) if given.json else "\n".join([*report(found, given.database, pace), *wrong]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
