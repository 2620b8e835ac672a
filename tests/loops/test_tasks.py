"""What the queue runs for a round, and what may be queued at all."""

import ast
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django_q.exceptions import TimeoutException
from django_q.models import OrmQ

from scaling.clock import FrozenClock
from scaling.loops import queue, rounds, tasks
from scaling.loops.registry import LoopSpec
from scaling.models import Event, Loop
from tests.loops import queued
from tests.loops.queued import only_loops

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
ROOT = Path(__file__).resolve().parents[2]
HERE = "tests.loops.test_tasks"

outcome: list[BaseException | None] = []


def body(now: datetime) -> None:
    raised = outcome.pop(0) if outcome else None
    if raised is not None:
        raise raised


async def asynchronous(now: datetime) -> None:
    pass


def run_round(number: int, *raises: BaseException | None) -> Loop:
    """Claim round `number` of the loop, run it with a body that raises as told, and return the row."""
    outcome[:] = raises
    row, _ = Loop.objects.get_or_create(name="sweep", defaults={"period_seconds": 10, "next_due_at": NOW})
    spec = LoopSpec("sweep", 10, f"{HERE}:body")
    rounds.claim(row, spec, NOW + timedelta(seconds=10 * (number - 1)), lambda _: None)
    with only_loops(spec):
        tasks.run_loop("sweep", number, NOW.timestamp())
    return Loop.objects.get(name="sweep")


def states() -> list[str]:
    return [event.payload["state"] for event in Event.objects.filter(topic="loops").order_by("id")]


@pytest.mark.django_db
def test_a_round_records_when_it_ran_and_how_late(frozen_clock: FrozenClock) -> None:
    frozen_clock.advance(0.5)
    row = run_round(1)
    assert (row.running_since, row.last_error, row.last_lateness_ms) == (None, "", 500)
    assert row.last_started_at == row.last_finished_at == NOW + timedelta(seconds=0.5)


@pytest.mark.django_db
def test_an_error_is_one_line_on_the_row_and_the_loop_goes_on(frozen_clock: FrozenClock) -> None:
    row = run_round(1, ValueError("no such\n  zone"))
    assert (row.last_error, row.running_since) == ("ValueError: no such zone", None)
    assert run_round(2).last_error == ""


@pytest.mark.django_db
def test_only_a_change_of_state_is_published_and_logged(
    frozen_clock: FrozenClock, caplog: pytest.LogCaptureFixture
) -> None:
    errors = (None, None, ValueError("a"), ValueError("b"), ValueError("c"), None, None)
    with caplog.at_level("INFO", logger="scaling.loops.tasks"):
        for number, error in enumerate(errors, 1):
            run_round(number, error)
    assert states() == ["failing", "ok"]
    assert [record.message for record in caplog.records] == ["loop fails", "loop works again"]


@pytest.mark.django_db
def test_a_time_out_is_recorded_and_still_ends_the_worker(frozen_clock: FrozenClock) -> None:
    with pytest.raises(TimeoutException):
        run_round(1, TimeoutException("Task exceeded maximum timeout value (20 seconds)"))
    assert "exceeded" in Loop.objects.get().last_error
    assert Loop.objects.get().running_since is None


@pytest.mark.django_db
def test_a_loop_this_worker_does_not_know_is_an_error_on_its_row(frozen_clock: FrozenClock) -> None:
    Loop.objects.create(name="newer", period_seconds=1, next_due_at=NOW, round=1, running_since=NOW)
    tasks.run_loop("newer", 1, NOW.timestamp())
    assert "newer" in Loop.objects.get(name="newer").last_error


@pytest.mark.django_db
def test_a_task_of_a_round_that_was_given_up_runs_nothing(frozen_clock: FrozenClock) -> None:
    Loop.objects.create(name="sweep", period_seconds=10, next_due_at=NOW, round=7, running_since=NOW)
    with only_loops(LoopSpec("sweep", 10, f"{HERE}:body")):
        outcome[:] = [AssertionError("ran")]
        tasks.run_loop("sweep", 6, NOW.timestamp())
    assert outcome


@pytest.mark.django_db
def test_a_queued_function_is_stored_by_its_name_with_its_own_time_limit() -> None:
    queue.enqueue(body, "x", timeout_seconds=7)
    (task,) = queued.tasks()
    assert (task["func"], task["args"], task["timeout"]) == (f"{HERE}.body", ("x",), 7)


def test_an_async_function_is_refused_where_it_is_queued() -> None:
    with pytest.raises(TypeError, match="plain function"):
        queue.enqueue(asynchronous)


@pytest.mark.parametrize("task", [pytest.param(lambda: None, id="lambda"), str, datetime.now])
def test_what_a_worker_could_not_find_by_name_is_refused(task: object) -> None:
    with pytest.raises(TypeError, match="function of a module"):
        queue.enqueue(task)  # type: ignore[arg-type]


@pytest.mark.parametrize("seconds", [0, 2.5, -1])
def test_time_limits_are_whole_seconds(seconds: int) -> None:
    with pytest.raises(TypeError, match="whole number"):
        queue.enqueue(body, timeout_seconds=seconds)


@pytest.mark.django_db
def test_a_task_may_still_wait_while_one_as_old_is_not_fetched() -> None:
    queued_at = datetime.now(UTC)
    queue.enqueue(body)
    soon = queued_at + timedelta(seconds=5)
    assert queue.may_still_wait(queued_at, soon)
    assert not queue.may_still_wait(queued_at - timedelta(seconds=30), soon)
    OrmQ.objects.update(lock=queued_at + timedelta(seconds=120))
    assert not queue.may_still_wait(queued_at, soon)


def test_only_the_queue_module_speaks_to_the_queue_library() -> None:
    """Everything queued then passes the check for async functions and whole time limits."""
    callers = {
        str(path.relative_to(ROOT))
        for package in ("scaling", "iris_web")
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom | ast.Import)
        and any(name.startswith("django_q.tasks") for name in _imported(node))
    }
    assert callers == {"scaling/loops/queue.py"}


def _imported(node: ast.ImportFrom | ast.Import) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [f"{node.module}.{alias.name}" for alias in node.names]
