"""What is wrong, in words."""

from datetime import UTC, datetime, timedelta

from scaling.notices import findings
from scaling.notices.findings import LoopFact, PlatformFact, SourceFact, StockoutFact, WaitingFact, WaitingJob
from scaling.notices.kinds import CONDITIONS, NoticeKind

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=1)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def loop(finished: float | None, error: str = "", period: float = 10) -> LoopFact:
    return LoopFact("autoscaler", period, ago(5), None if finished is None else ago(finished), error)


def test_every_condition_has_a_row_with_words_and_a_page() -> None:
    assert set(CONDITIONS) == set(NoticeKind)
    assert all(row.label and row.help and row.page.startswith("/") for row in CONDITIONS.values())


def test_a_stockout_tells_its_group_and_the_platforms_words() -> None:
    [one] = findings.stockouts([StockoutFact("v5-8", ago(60), ago(-600), 1, "no  more\ncapacity", False)], NOW)
    assert one.title == "Stock-out: v5-8" and one.page == "/stockouts/?group=v5-8"
    [long] = findings.stockouts([StockoutFact("é" * 200, NOW, None, 1, "", False)], NOW)
    assert long.page == "/stockouts/"
    assert one.text.endswith("since 2026-01-01 11:59:00Z. The platform says: no more capacity.")


def test_a_stockout_that_ran_out_lasts_until_its_probe_had_its_time() -> None:
    fact = StockoutFact("v5-8", ago(9000), ago(14 * 60), 1, "", False)
    assert findings.stockouts([fact], NOW)
    assert findings.stockouts([fact], NOW + timedelta(minutes=2)) == []


def test_a_stockout_without_an_end_lasts_and_an_acknowledged_one_is_silenced() -> None:
    [one] = findings.stockouts([StockoutFact("v5-8", LONG_AGO, None, 3, "", True)], NOW)
    assert one.silenced


def test_demand_tells_how_many_which_and_why_the_first_waits() -> None:
    jobs = [WaitingJob("slurm", f"job-{number}", ago(3600 - number), "stockout in v5-8") for number in range(5)]
    [one] = findings.waiting([WaitingFact("slurm", 7, jobs)], timedelta(minutes=15))
    assert one.title == "Demand unsatisfied: 7 jobs wait longer than 15 min (slurm)"
    assert one.text == (
        "job-0, job-1, job-2, job-3, job-4 and 2 more. The first, job-0, waits since 2026-01-01 11:00:00Z: "
        "stockout in v5-8."
    )


def test_one_waiting_job_is_told_in_the_singular() -> None:
    [one] = findings.waiting([WaitingFact("api", 1, [WaitingJob("api", "j", ago(99), "x")])], timedelta(seconds=90))
    assert one.title == "Demand unsatisfied: 1 job waits longer than 90 s (api)"


def test_a_loop_that_ends_no_round_for_three_periods_and_half_a_minute_has_stalled() -> None:
    assert findings.loops([loop(60)], NOW, LONG_AGO, frozenset()) == []
    [one] = findings.loops([loop(61)], NOW, LONG_AGO, frozenset())
    assert one.title == "Loop stalled: autoscaler" and "no round since 2026-01-01 11:58:59Z" in one.text
    assert one.held == timedelta(0)


def test_silence_counts_only_while_somebody_watched() -> None:
    assert findings.loops([loop(9000)], NOW, ago(60), frozenset()) == []
    assert findings.loops([loop(9000)], NOW, ago(61), frozenset())


def test_a_stall_that_was_told_lasts_through_a_restart_of_who_watches() -> None:
    told = frozenset({(NoticeKind.LOOP, "autoscaler")})
    assert findings.loops([loop(9000)], NOW, NOW, told)


def test_a_loop_whose_first_round_never_ends_stalls_too() -> None:
    fact = LoopFact("syncer", 5, ago(50), None, "")
    assert findings.loops([fact], NOW, LONG_AGO, frozenset())


def test_a_silent_worker_is_one_finding_sooner_than_any_of_its_loops() -> None:
    facts = [LoopFact(name, 1, ago(31), ago(31), "") for name in ("heartbeat", "scheduler", "workers")]
    [one] = findings.loops(facts, NOW, LONG_AGO, frozenset())
    assert one.title == "All loops stalled" and "No worker has run anything since 2026-01-01 11:59:29Z" in one.text
    assert findings.loops(facts[1:], NOW, LONG_AGO, frozenset()) == []


def test_a_loop_that_was_told_stays_told_while_the_worker_is_silent() -> None:
    facts = [LoopFact(name, 1, ago(31), ago(31), "") for name in ("heartbeat", "scheduler")]
    told = findings.loops(facts, NOW, LONG_AGO, frozenset({(NoticeKind.LOOP, "scheduler")}))
    assert [one.object for one in told] == ["all", "scheduler"]


def test_a_loop_whose_rounds_fail_is_told_after_a_while() -> None:
    [one] = findings.loops([loop(1, "OperationalError: disk full")], NOW, LONG_AGO, frozenset())
    assert one.title == "Loop failing: autoscaler" and "disk full" in one.text and one.held == timedelta(minutes=2)


def test_a_platform_and_its_error() -> None:
    [one] = findings.platforms([PlatformFact("gcp", ago(120), "503 from the API")])
    assert one.title == "Platform unreachable: gcp" and one.text.endswith("503 from the API.")


def test_a_source_that_every_instance_reaches_is_no_finding() -> None:
    assert findings.source(NoticeKind.GATEWAY, [SourceFact("a", NOW, "")]) == []


def test_a_source_is_one_finding_whoever_cannot_reach_it() -> None:
    facts = [SourceFact("a", ago(60), "refused"), SourceFact("b", ago(90), "timed out"), SourceFact("c", NOW, "")]
    [one] = findings.source(NoticeKind.PROMETHEUS, facts)
    assert one.since == ago(90) and "timed out." in one.text
    assert one.text.endswith("Seen by a, b, others reach it.")
    assert one.held == timedelta(seconds=30)
