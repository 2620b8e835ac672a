"""The first minutes of the demonstration, with every loop on a clock that the test moves."""

from collections.abc import Iterator

import pytest

from scaling import demonstration
from scaling.clock import FrozenClock
from scaling.demonstration import load
from scaling.loops import autoscaler, scheduler
from scaling.models import Action, Hint, Installation, Job, Marker, Platform, Slice
from scaling.platforms.registry import SIMULATION_OPTION, cloud_books
from tests.loops.queued import run_all

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def cluster(frozen_clock: FrozenClock) -> Iterator[None]:
    """The demonstration with a cloud that answers at once, since its delays would be real."""
    demonstration.seed(frozen_clock())
    Installation.objects.update(created_at=frozen_clock())
    platform = Platform.objects.get()
    moods = platform.options[SIMULATION_OPTION] | {"answer_seconds": 0, "slow_chance": 0}
    Platform.objects.update(options={SIMULATION_OPTION: moods})
    yield
    with cloud_books(platform).store.write() as transaction:
        for table in ("slices", "calls", "rules"):
            transaction.run(f"DELETE FROM {table} WHERE cloud = ?", [platform.name])


def go(clock: FrozenClock, seconds: int) -> None:
    """The load and the scheduler every other second, a cycle every ten."""
    for _ in range(0, seconds, 2):
        now = clock.advance(2)
        load.run(now)
        scheduler.run(now)
        if int(now.timestamp()) % 10 == 0:
            autoscaler.run(now)
            while run_all():
                pass


def kinds() -> set[str]:
    return set(Action.objects.values_list("kind", flat=True))


def test_it_is_alive_at_once_and_shows_everything_within_three_minutes(frozen_clock: FrozenClock) -> None:
    go(frozen_clock, 10)
    assert Slice.objects.filter(state="BOOTING").count() >= 5
    assert "scale_up" in kinds()
    go(frozen_clock, 50)
    assert Slice.objects.filter(state="READY").count() >= 3
    assert "slice_ready" in kinds()
    assert Job.objects.filter(state="running").exists()
    go(frozen_clock, 110)
    assert Job.objects.filter(state="done").exists()
    assert Marker.objects.filter(kind="stockout", group__zone="us-central1-a").exists()
    assert Hint.objects.exists()
    assert {"create_failed", "marker_set"} <= kinds()
    every = Slice.objects.values_list("name", flat=True)
    assert all(cloud_books(Platform.objects.get()).accepted_creates(name) <= 1 for name in every)
