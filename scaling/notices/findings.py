"""What is wrong now, in words: pure functions from stored facts to findings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from scaling.notices.kinds import CONDITIONS, FAILING_HOLD, NoticeKind

Key = tuple[NoticeKind, str]

OBJECT_CHARACTERS = 200
JOBS_NAMED = 5
# A marker whose time has run out is over after this much more without a new failure: a probe that fails extends it.
PROBE_GRACE = timedelta(minutes=15)
LATE_PERIODS = 3
LATE_SECONDS = 30.0


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
    page = CONDITIONS[NoticeKind.STOCKOUT].page
    text = f"Nothing can be bought in {fact.group} since {told_time(fact.since)}."
    if fact.message:
        text += f" The platform says: {_cut(fact.message)}"
    title = f"Stock-out: {fact.group}"
    return Finding(NoticeKind.STOCKOUT, fact.group, title, text, page, fact.since, silenced=fact.acknowledged)


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
    """A loop that ends no round for so long has stalled: three periods and half a minute."""
    return timedelta(seconds=LATE_PERIODS * period_seconds + LATE_SECONDS)


def loops(facts: Iterable[LoopFact], now: datetime, watching_since: datetime, open_: frozenset[Key]) -> list[Finding]:
    """Loops that end no rounds, and those whose rounds fail.

    While nobody watched, Iris itself was away: silence counts from `watching_since`, except where it was told already.
    """
    found = (_loop(fact, now, watching_since, (NoticeKind.LOOP, fact.name) in open_) for fact in facts)
    return [finding for finding in found if finding is not None]


def _loop(fact: LoopFact, now: datetime, watching_since: datetime, known: bool) -> Finding | None:
    page = CONDITIONS[NoticeKind.LOOP].page
    quiet_since = fact.due if fact.finished is None else fact.finished
    counted_from = quiet_since if known else max(quiet_since, watching_since)
    if now - counted_from > stall_limit(fact.period_seconds):
        text = (
            f"It is due every {fact.period_seconds:g} s and has ended no round since {told_time(quiet_since)}. "
            "Is the worker or the ticker down?" + (f" Last error: {_cut(fact.error)}" if fact.error else "")
        )
        return Finding(NoticeKind.LOOP, fact.name, f"Loop stalled: {fact.name}", text, page, quiet_since)
    if fact.error:
        text = f"Its rounds end in an error: {_cut(fact.error)}"
        title = f"Loop failing: {fact.name}"
        return Finding(NoticeKind.LOOP, fact.name, title, text, page, now, hold=FAILING_HOLD)
    return None


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
