"""One kill after the other: ask, wait for the window, kill, see what was hit, start again, check."""

import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from django.db.models import Max
from django.utils import timezone

from benchmarks.torture import audit, cluster
from benchmarks.torture.aims import AIMS, Aim, Hold, Sight
from benchmarks.torture.audit import Violation
from benchmarks.torture.cluster import Round
from benchmarks.torture.eye import Eye
from benchmarks.torture.locks import Locks
from benchmarks.torture.plane import ControlPlane
from benchmarks.torture.story import story
from benchmarks.torture.tally import Tally
from benchmarks.torture.windows import Window
from scaling.models import Cycle, Slice

LOOK_SECONDS = 0.002
CHECK_SECONDS = 0.02
WINDOW_SECONDS = 10.0
HELD_SECONDS = 5.0
CYCLES_SECONDS = 60.0
# For the answers to what the two cycles have sent.
ANSWERS_SECONDS = 4.0
WORKERS_SECONDS = 20.0
RELEASE_SECONDS = 30.0
MOST_VIOLATIONS = 20
# How often the task queue is lost with the processes, as one in memory would be.
QUEUE_LOSES = 0.5

_TO_BUY = (Window.BEFORE_INTENT, Window.INTENT, Window.CLAIMED)


@dataclass(frozen=True, slots=True)
class Moment:
    """What the kill hit: slices by window, when (Unix seconds) it was, and when the claims then held run out."""

    round: Round
    slices: dict[Window, list[str]]
    killed_at: float
    claims_end: float
    last_cycle: int

    def counts(self) -> dict[Window, int]:
        """Before the intent there are no names yet: the slices that are still to be asked for."""
        counts = {window: len(names) for window, names in self.slices.items()}
        return counts | ({Window.BEFORE_INTENT: self.round.jobs} if self.is_before_intent else {})

    @property
    def is_before_intent(self) -> bool:
        return all(window.value.startswith("release") for window in self.slices)

    @property
    def to_release(self) -> list[str]:
        return [name for window, names in self.slices.items() if window.value.startswith("release") for name in names]

    def window_of(self, name: str) -> str:
        """The window that a slice was in; "" for one that the kill did not concern."""
        found = (window.value for window, names in self.slices.items() if name in names)
        return next(found, Window.BEFORE_INTENT.value if self.is_before_intent and name else "")


@dataclass(slots=True)
class Torture:
    """A run with one seed: kill `number` is the same whenever it is run, as far as the machine allows."""

    seed: int
    eye: Eye
    locks: Locks
    plane: ControlPlane
    tally: Tally = field(default_factory=Tally)
    _before: Round | None = None
    _reported: set[Violation] = field(default_factory=set)

    def run(self, numbers: range) -> bool:
        """Kill once for each number; returns whether all held. Gives up after too many violations."""
        self.plane.start()
        for number in numbers:
            self._kill(number, random.Random(f"{self.seed}:{number}"))
            if self.tally.violations.total() > MOST_VIOLATIONS:
                print("given up: too many violations")
                return False
        self._release_all()
        return not self.tally.violations

    def _kill(self, number: int, chance: random.Random) -> None:
        aim = _aim_of(number, self.seed)
        round_ = self._ask(number, aim, chance)
        self._strike(aim, chance, round_)
        if chance.random() < QUEUE_LOSES:
            cluster.forget_queue()
        moment = self._moment(round_)
        self.tally.count(aim.window, moment.counts())
        self.plane.start()
        began = time.time()
        listed = self._two_more_cycles(moment, began)
        self._report(self._wrong(moment, listed), moment)
        hit = ", ".join(f"{count} {window}" for window, count in moment.counts().items())
        back = f"back in {self.tally.back_seconds[-1]:.1f} s"
        print(f"{number:4}  {round_.jobs:2} jobs, aimed at: {aim.window}; hit: {hit}; {back}", flush=True)
        self._before = round_

    # -- before the kill

    def _ask(self, number: int, aim: Aim, chance: random.Random) -> Round:
        """Withdraw the round before and put a new one's jobs, at once or while the release goes on."""
        self._wait_for_workers()
        round_ = cluster.new_round(number, chance)
        self._report(self._still_there(round_), None)
        cluster.script_answers(chance)
        if self._before:
            cluster.withdraw(self._before)
        if aim.is_release:
            # The release is decided a second after; by then the purchase should be under way, and we watching.
            time.sleep(chance.uniform(0, 0.5))
        cluster.ask(round_)
        return round_

    def _wait_for_workers(self) -> None:
        before = self._before
        if before and not _until(lambda: cluster.running_jobs(before) == before.jobs, WORKERS_SECONDS):
            words = f"round {before.number}: {cluster.running_jobs(before)} of {before.jobs} jobs got workers"
            self._report([Violation(words)], None)

    def _still_there(self, round_: Round) -> Iterator[Violation]:
        """Slices of the round that used this group before."""

        def left() -> list[str]:
            return [facts.name for facts in self.eye.facts() if facts.group == round_.group]

        _until(lambda: not left(), RELEASE_SECONDS)
        for name in left():
            yield Violation(f"was not released before round {round_.number}", name)

    # -- the kill

    def _strike(self, aim: Aim, chance: random.Random, round_: Round) -> None:
        since = time.time()
        try:
            _until(lambda: aim.first(self._see(round_, since)), WINDOW_SECONDS, LOOK_SECONDS)
            if aim.hold is Hold.IRIS:
                self.locks.hold_iris()
            elif aim.hold is Hold.BOOKS:
                self.locks.hold_books()
            _until(lambda: aim.then(self._see(round_, since)), HELD_SECONDS, LOOK_SECONDS)
            time.sleep(chance.uniform(0, aim.within_seconds))
            self.plane.kill()
        finally:
            self.locks.release()
        _until(self.eye.is_alone, WINDOW_SECONDS)

    def _see(self, round_: Round, since: float) -> Sight:
        facts = self.eye.facts()
        return Sight(
            [one for one in facts if one.group == round_.group],
            [one for one in facts if one.group != round_.group],
            self.eye.is_listing(since),
        )

    def _moment(self, round_: Round) -> Moment:
        now = timezone.now()
        claims = Slice.objects.filter(ended_at__isnull=True, next_attempt_at__gt=now)
        last = claims.aggregate(last=Max("next_attempt_at"))["last"] or now
        newest = Cycle.objects.order_by("-id").values_list("id", flat=True).first() or 0
        return Moment(round_, self._see(round_, 0).hit(), now.timestamp(), last.timestamp(), newest)

    # -- after it

    def _two_more_cycles(self, moment: Moment, began: float) -> float:
        """Wait for them, and for the answers to what they sent; returns when the last whole one began."""
        free = max(began, moment.claims_end)
        if not self._cycled(moment.last_cycle, 0.0, 1):
            self._report([Violation(f"no whole cycle within {CYCLES_SECONDS:g} s of a restart")], moment)
        self.tally.back_seconds.append(time.time() - began)
        self._cycled(moment.last_cycle, free, 2)
        _until(lambda: not self._under_way(moment), ANSWERS_SECONDS)
        self._count_cycles(moment, free)
        return max(_cycles(moment.last_cycle), default=0.0)

    def _cycled(self, after: int, since: float, times: int) -> bool:
        """Wait for so many whole cycles that began after a moment; the supervisor's part is done meanwhile."""

        def enough() -> bool:
            self.plane.look()
            return sum(at > since for at in _cycles(after)) >= times

        return _until(enough, CYCLES_SECONDS)

    def _under_way(self, moment: Moment) -> bool:
        hit = self._see(moment.round, 0).hit()
        asked = sum(len(names) for window, names in hit.items() if not window.value.startswith("release"))
        return asked < moment.round.jobs or bool(set(hit) - {Window.SAVED, Window.DELETE_SAVED})

    def _count_cycles(self, moment: Moment, free: float) -> None:
        """How many cycles began, once nobody held a claim, before the cloud was asked for what it had not got yet."""
        sold = audit.sold_to(self.eye, moment.round)
        late = [name for window in _TO_BUY for name in moment.slices.get(window, ())]
        names = list(sold) if moment.is_before_intent else late
        began = [at for at in _cycles(moment.last_cycle) if at > free]
        for name in names:
            if name in sold and sold[name][0] > moment.killed_at:
                self.tally.cycles[sum(at < sold[name][0] for at in began)] += 1

    def _wrong(self, moment: Moment, listed: float) -> Iterator[Violation]:
        yield from audit.audit(self.eye, time.time(), listed)
        yield from audit.audit_round(self.eye, moment.round)
        yield from audit.not_released(self.eye, moment.to_release)
        if self.plane.has_died():
            yield Violation("a process of the control plane ended by itself")

    def _release_all(self) -> None:
        """At the end nothing is wanted any more, so nothing may be left."""
        self._wait_for_workers()
        if self._before:
            cluster.withdraw(self._before)
        _until(lambda: not self.eye.facts(), RELEASE_SECONDS)
        left = [Violation("was not released at the end", facts.name) for facts in self.eye.facts()]
        self._report([*left, *audit.audit(self.eye, time.time(), 0.0), *audit.told_wholly(self.eye)], None)

    def _report(self, found: Iterable[Violation], moment: Moment | None) -> None:
        """Print and count each violation once, with all that is known of its slice."""
        for violation in found:
            if violation in self._reported:
                continue
            self._reported.add(violation)
            self.tally.violations[moment.window_of(violation.slice) if moment else ""] += 1
            print(f"VIOLATION  {violation.slice or 'the control plane'}: {violation.words}")
            print("\n".join(story(violation.slice) if violation.slice else []), flush=True)


def _aim_of(number: int, seed: int) -> Aim:
    """Every aim once in each block of as many kills, in an order of the block's own."""
    block, place = divmod(number, len(AIMS))
    return random.Random(f"{seed}:block:{block}").sample(AIMS, len(AIMS))[place]


def _cycles(after: int) -> list[float]:
    """When the whole cycles after that one began, in order."""
    rows = Cycle.objects.filter(pk__gt=after, status=Cycle.Status.OK).order_by("pk")
    return [at.timestamp() for at in rows.values_list("started_at", flat=True)]


def _until(condition: Callable[[], bool], seconds: float, look_seconds: float = CHECK_SECONDS) -> bool:
    """Wait until it holds; False when it did not within `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(look_seconds)
    return True
