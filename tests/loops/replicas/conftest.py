import pytest

from scaling.clock import FrozenClock
from scaling.sources import configured
from tests.loops.replicas.world import World


@pytest.fixture
def world(db: None, frozen_clock: FrozenClock, monkeypatch: pytest.MonkeyPatch) -> World:
    """The replica loops' surroundings, in memory."""
    made = World(frozen_clock)
    monkeypatch.setattr(configured, "gateway", lambda: made)
    monkeypatch.setattr(configured, "prometheus", lambda: made)
    return made
