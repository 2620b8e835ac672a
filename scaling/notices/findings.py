"""What is wrong now, in words: pure functions from stored facts to findings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from scaling.notices.kinds import CONDITIONS, FAILING_HOLD, NoticeKind

Key = tuple[NoticeKind, str]

OBJECT_CHARACTERS, PAGE_CHARACTERS = 200, 300
JOBS_NAMED = 5
# A marker whose time has run out is over after this much more without a new failure: a probe that fails extends it.
PROBE_GRACE = timedelta(minutes=15)
LATE_PERIODS = 3
LATE_SECONDS = 30.0
LEAST_PERIOD_SECONDS = 5.0
# The loop that does nothing but show that a worker serves the queue, and the object of a notice that none does.
HEARTBEAT = "heartbeat"
ALL_LOOPS = "all"


@dataclass(frozen=True, slots=True)
class Finding:
    """One condition that holds on one object. `silenced`: somebody has acknowledged it where it is shown."""

    kind: NoticeKind
    object: str
    title: str
    text: str
    page: str
    since: datetime
    silenced: bool = False
    hold: timedelta | None = None

    @property
    def key(self) -> Key:
        return self.kind, self.object

    @property
    def held(self) -> timedelta:
        """How long it must last before it is told."""
        return CONDITIONS[self.kind].hold if self.hold is None else self.hold


@dataclass(frozen=True, slots=True)
class StockoutFact:
    """An open stock-out marker. `until` None = no end; `acknowledged`: by somebody, and that has not run out."""

    group: str
    since: datetime
    until: datetime | None
    failures: int
    message: str
    acknowledged: bool


@dataclass(frozen=True, slots=True)
class WaitingJob:
    source: str
    job: str
    since: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class WaitingFact:
    """The jobs of one demand source that wait too long: the longest waiting ones, and how many there are in all."""

    source: str
    count: int
    first: Sequence[WaitingJob]


@dataclass(frozen=True, slots=True)
class LoopFact:
    """`due`: when the round under way, or the next one, was due. `finished` None = no round ever ended."""

    name: str
    period_seconds: float
    due: datetime
    finished: datetime | None
    error: str

    @property
    def quiet_since(self) -> datetime:
        """When a round last ended, or should have begun."""
        return self.due if self.finished is None else self.finished


@dataclass(frozen=True, slots=True)
class PlatformFact:
    name: str
    since: datetime
    error: str


@dataclass(frozen=True, slots=True)
class SourceFact:
    """How one instance sees a source; `trouble` "" = it answers."""

    instance: str
    since: datetime
    trouble: str


def stockouts(facts: Iterable[StockoutFact], now: datetime) -> list[Finding]:
    return [_stockout(fact) for fact in facts if fact.until is None or now < fact.until + PROBE_GRACE]


def _stockout(fact: StockoutFact) -> Finding:
    text = f"Nothing can be bought in {fact.group} since {told_time(fact.since)}."
    if fact.message:
        text += f" The platform says: {_cut(fact.message)}"
    title = f"Stock-out: {fact.group}"
    page = _page_of(fact.group)
    return Finding(NoticeKind.STOCKOUT, fact.group, title, text, page, fact.since, silenced=fact.acknowledged)


def _page_of(group: str) -> str:
    """The stock-outs of that group alone, where they are acknowledged; all of them where its name is too long."""
    every = CONDITIONS[NoticeKind.STOCKOUT].page
    page = f"{every}?{urlencode({'group': group})}"
    return page if len(page) <= PAGE_CHARACTERS else every


def waiting(facts: Iterable[WaitingFact], limit: timedelta) -> list[Finding]:
    return [_waiting(fact, limit) for fact in facts if fact.count and fact.first]


def _waiting(fact: WaitingFact, limit: timedelta) -> Finding:
    first, more = fact.first[0], fact.count - len(fact.first[:JOBS_NAMED])
    names = ", ".join(job.job for job in fact.first[:JOBS_NAMED]) + (f" and {more} more" if more > 0 else "")
    jobs = "1 job waits" if fact.count == 1 else f"{fact.count} jobs wait"
    text = f"{names}. The first, {first.job}, waits since {told_time(first.since)}: {_cut(first.reason)}"
    title = f"Demand unsatisfied: {jobs} longer than {minutes(limit)} ({fact.source})"
    return Finding(NoticeKind.DEMAND, fact.source, title, text, CONDITIONS[NoticeKind.DEMAND].page, first.since)


def stall_limit(period_seconds: float) -> timedelta:
    """A loop that ends no round for so long has stalled: three periods, of five seconds at least, and half a minute."""
    return timedelta(seconds=LATE_PERIODS * max(period_seconds, LEAST_PERIOD_SECONDS) + LATE_SECONDS)


@dataclass(frozen=True, slots=True)
class Back:
    """When a worker last ran something again after none had; loops silent since before count from `excused_until`."""

    at: datetime
    excused_until: datetime


def loops(
    facts: Iterable[LoopFact],
    now: datetime,
    watching_since: datetime,
    told: frozenset[Key],
    back: Back | None = None,
) -> list[Finding]:
    """Loops that end no rounds, and those whose rounds fail.

    While nobody watched, Iris itself was away: silence counts from `watching_since`, except where it was told already.
    Where even the heartbeat is silent, no worker runs anything: that is one finding, sooner than any of a loop alone.
    What fell silent with it gets time to come back with it: only a loop that then stays silent is told by itself.
    """
    looked = list(facts)
    pulse = next((fact for fact in looked if fact.name == HEARTBEAT), None)
    if pulse is not None:
        known = (NoticeKind.LOOP, ALL_LOOPS) in told
        if _quiet(pulse, now, watching_since, known) > timedelta(seconds=LATE_SECONDS):
            before = [_stalled(fact) for fact in looked if (NoticeKind.LOOP, fact.name) in told]
            return [_all_stalled(pulse), *before]
    found = (
        _loop(fact, now, _counted_from(fact, watching_since, back), (NoticeKind.LOOP, fact.name) in told)
        for fact in looked
    )
    return [finding for finding in found if finding is not None]


def _counted_from(fact: LoopFact, watching_since: datetime, back: Back | None) -> datetime:
    if back is None or fact.quiet_since > back.at:
        return watching_since
    return max(watching_since, back.excused_until)


def _loop(fact: LoopFact, now: datetime, watching_since: datetime, known: bool) -> Finding | None:
    if _quiet(fact, now, watching_since, known) > stall_limit(fact.period_seconds):
        return _stalled(fact)
    if not fact.error:
        return None
    text = f"Its rounds end in an error: {_cut(fact.error)}"
    page = CONDITIONS[NoticeKind.LOOP].page
    return Finding(NoticeKind.LOOP, fact.name, f"Loop failing: {fact.name}", text, page, now, hold=FAILING_HOLD)


def _quiet(fact: LoopFact, now: datetime, watching_since: datetime, known: bool) -> timedelta:
    return now - (fact.quiet_since if known else max(fact.quiet_since, watching_since))


def _stalled(fact: LoopFact) -> Finding:
    text = (
        f"It is due every {fact.period_seconds:g} s and has ended no round since {told_time(fact.quiet_since)}. "
        "Is the worker or the ticker down?" + (f" Last error: {_cut(fact.error)}" if fact.error else "")
    )
    page = CONDITIONS[NoticeKind.LOOP].page
    return Finding(NoticeKind.LOOP, fact.name, f"Loop stalled: {fact.name}", text, page, fact.quiet_since)


def _all_stalled(pulse: LoopFact) -> Finding:
    text = (
        f"No worker has run anything since {told_time(pulse.quiet_since)}: nothing is bought, released or scaled. "
        "Is the worker or the ticker down?"
    )
    page = CONDITIONS[NoticeKind.LOOP].page
    return Finding(NoticeKind.LOOP, ALL_LOOPS, "All loops stalled", text, page, pulse.quiet_since)


def platforms(facts: Iterable[PlatformFact]) -> list[Finding]:
    page = CONDITIONS[NoticeKind.PLATFORM].page
    return [
        Finding(
            NoticeKind.PLATFORM,
            fact.name,
            f"Platform unreachable: {fact.name}",
            f"It cannot be listed since {told_time(fact.since)}; nothing is bought or released there."
            + (f" {_cut(fact.error)}" if fact.error else ""),
            page,
            fact.since,
        )
        for fact in facts
    ]


_SOURCES = {
    NoticeKind.PROMETHEUS: ("Prometheus unreachable", "Replicas are held as they are, but for minimum and maximum."),
    NoticeKind.GATEWAY: ("Gateway unreachable", "Deployments are held as they are."),
}


def source(kind: NoticeKind, facts: Sequence[SourceFact]) -> list[Finding]:
    """One finding for a source, whichever instances cannot reach it."""
    away = sorted((fact for fact in facts if fact.trouble), key=lambda fact: (fact.since, fact.instance))
    if not away:
        return []
    title, effect = _SOURCES[kind]
    names = sorted({fact.instance for fact in away if fact.instance})
    seen = f" Seen by {', '.join(names)}" if names and len(facts) > 1 else ""
    if seen:
        seen += ", others reach it." if len(away) < len(facts) else "."
    text = f"Since {told_time(away[0].since)}: {_cut(away[0].trouble)} {effect}{seen}"
    return [Finding(kind, "", title, text, CONDITIONS[kind].page, away[0].since)]


def told_time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%SZ")


def minutes(span: timedelta) -> str:
    """A span as settings give it: `15 min`, `90 s`."""
    seconds = span.total_seconds()
    return f"{seconds / 60:g} min" if seconds >= 60 and seconds % 60 == 0 else f"{seconds:g} s"


def _cut(text: str, characters: int = 400) -> str:
    """One line, not too long, with a stop at its end."""
    line = " ".join(text.split())
    line = line if len(line) <= characters else line[: characters - 1] + "…"
    return line if line.endswith((".", "!", "?", "…")) else f"{line}."
