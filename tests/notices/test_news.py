"""What is news: told once while it lasts, over once it stays away, quiet where somebody knows."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scaling.notices.findings import Finding
from scaling.notices.kinds import NoticeKind
from scaling.notices.news import Known, Rules, Step, count_flaps, decide, settle_time

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
RULES = Rules(settle=timedelta(seconds=60))
STOCKOUT, GATEWAY = NoticeKind.STOCKOUT, NoticeKind.GATEWAY


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def found(object_: str = "v5", kind: NoticeKind = STOCKOUT, **fields: object) -> Finding:
    return Finding(kind, object_, f"{kind} {object_}", "text", "/", NOW, **fields)  # type: ignore[arg-type]


def known(object_: str = "v5", kind: NoticeKind = STOCKOUT, **fields: object) -> Known:
    return Known(kind, object_, **{"opened": NOW, "told": NOW, **fields})  # type: ignore[arg-type]


def steps(*args: object, **kwargs: object) -> list[Step]:
    return [change.step for change in decide(*args, **kwargs)]  # type: ignore[arg-type]


def test_a_new_finding_is_opened_and_told_at_once() -> None:
    assert steps([], [found()], NOW, RULES) == [Step.OPEN, Step.TELL]


def test_what_lasts_is_not_told_again() -> None:
    assert steps([known()], [found()], later(100_000), RULES) == [Step.KEEP]


def test_what_lasts_is_told_again_after_the_set_time_and_not_before() -> None:
    rules = Rules(again=timedelta(minutes=30))
    assert steps([known()], [found()], later(1799), rules) == [Step.KEEP]
    assert steps([known()], [found()], later(1800), rules) == [Step.AGAIN]


def test_a_condition_that_must_last_is_told_only_once_it_has() -> None:
    source = found(kind=GATEWAY)
    assert steps([], [source], NOW, RULES) == [Step.OPEN]
    waiting = known(kind=GATEWAY, told=None)
    assert steps([waiting], [source], later(29), RULES) == [Step.KEEP]
    assert steps([waiting], [source], later(30), RULES) == [Step.TELL]


def test_what_goes_before_it_was_told_is_forgotten_without_a_word() -> None:
    assert steps([known(told=None)], [], later(5), RULES) == [Step.FORGET]


def test_it_is_over_once_it_has_stayed_away() -> None:
    assert steps([known()], [], later(5), RULES) == [Step.ABSENT]
    away = known(absent=later(5))
    assert steps([away], [], later(64), RULES) == []
    assert steps([away], [], later(65), RULES) == [Step.OVER]


def test_what_comes_back_soon_is_the_same_notice_and_nothing_is_said() -> None:
    assert steps([known(absent=later(5))], [found()], later(30), RULES) == [Step.KEEP]


def test_what_is_acknowledged_is_neither_told_nor_told_again_but_told_when_over() -> None:
    rules = Rules(again=timedelta(minutes=1))
    assert steps([], [found(silenced=True)], NOW, rules) == [Step.OPEN]
    assert steps([known()], [found(silenced=True)], later(3600), rules) == [Step.KEEP]
    assert steps([known(acknowledged=True)], [found()], later(3600), rules) == [Step.KEEP]
    assert steps([known(acknowledged=True, absent=NOW)], [], later(60), rules) == [Step.OVER]


def test_when_the_acknowledgement_runs_out_and_it_lasts_it_is_told_again_once() -> None:
    assert steps([known(quiet=True)], [found()], later(3600), RULES) == [Step.AGAIN]
    assert steps([known(quiet=False, told=later(3600))], [found()], later(3605), RULES) == [Step.KEEP]


def test_what_was_silenced_from_its_first_moment_is_told_as_new_when_the_silence_ends() -> None:
    assert steps([known(told=None, quiet=True)], [found()], later(3600), RULES) == [Step.TELL]


def test_nothing_is_told_while_it_may_not_and_nothing_is_lost_by_it() -> None:
    assert steps([], [found()], NOW, RULES, may_tell=False) == [Step.OPEN]
    assert steps([known(absent=NOW)], [], later(600), RULES, may_tell=False) == []
    held = decide([known(quiet=True)], [found()], later(600), RULES, may_tell=False)
    assert [(change.step, change.quiet) for change in held] == [(Step.KEEP, True)]


def test_the_more_it_flaps_the_longer_it_must_stay_away_up_to_half_an_hour() -> None:
    assert [settle_time(RULES, flaps).total_seconds() for flaps in (0, 1, 2, 5, 99)] == [60, 120, 240, 1800, 1800]
    assert settle_time(Rules(settle=timedelta(hours=2)), 3) == timedelta(hours=2)
    assert count_flaps([(STOCKOUT, "a"), (STOCKOUT, "a"), (STOCKOUT, "b")])[(STOCKOUT, "a")] == 2


def told_of(pattern: list[bool], seconds: int = 5) -> list[Step]:
    """What a day of looks tells of one object that is found or not, as the store would keep it."""
    notice: Known | None = None
    over: list[datetime] = []
    told: list[Step] = []
    for number, is_there in enumerate(pattern):
        now = later(number * seconds)
        for change in decide([notice] if notice else [], [found()] if is_there else [], now, RULES):
            if change.step in (Step.TELL, Step.AGAIN, Step.OVER):
                told.append(change.step)
            flaps = sum(moment > now - timedelta(hours=1) for moment in over)
            fields: dict[str, Any] = {"opened": now, "told": None, "flaps": flaps}
            if notice is not None:
                fields = {name: getattr(notice, name) for name in ("opened", "told", "absent", "flaps")}
            if change.step is Step.OVER:
                over.append(now)
            if change.step in (Step.OVER, Step.FORGET):
                notice = None
                continue
            fields |= {"absent": fields.get("absent") or now if change.step is Step.ABSENT else None}
            fields |= {"told": now} if change.step in (Step.TELL, Step.AGAIN) else {}
            notice = known(**fields)
    return told


def test_an_hour_of_flapping_every_two_minutes_is_a_handful_of_messages() -> None:
    assert len(told_of(([True] * 24 + [False] * 24) * 15)) <= 6


@given(st.lists(st.booleans(), max_size=200))
def test_it_is_never_over_before_it_was_told_nor_told_twice_without_being_over(pattern: list[bool]) -> None:
    told = told_of(pattern)
    assert told == [Step.TELL, Step.OVER] * (len(told) // 2) + [Step.TELL] * (len(told) % 2)


@given(st.lists(st.booleans(), max_size=200))
def test_every_condition_that_is_found_is_told_in_the_same_look(pattern: list[bool]) -> None:
    assert bool(told_of(pattern)) == any(pattern)
