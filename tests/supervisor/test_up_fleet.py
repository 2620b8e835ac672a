"""The demonstration's inference fleet: alive beside the cluster, scaled by the real loops, and gone with them."""

import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.supervisor.running import Up, alive, kill, up, within

pytestmark = pytest.mark.processes


@pytest.fixture
def iris(tmp_path: Path) -> Iterator[Up]:
    with up(tmp_path / "var", IRIS_DEMONSTRATION_FLEET="1") as running:
        within(150, lambda: ticked(running) == 4, "a tick of four deployments")
        yield running


def ticked(iris: Up) -> int:
    try:
        return len(iris.rows("SELECT 1 FROM scaling_scaler WHERE ticked_at IS NOT NULL AND holder != ''"))
    except sqlite3.OperationalError:
        return 0


def test_it_is_measured_scaled_and_ended_with_everything_else(iris: Up) -> None:
    within(
        90,
        lambda: iris.rows("SELECT 1 FROM scaling_scaler WHERE json_extract(latest, '$.rps') > 0"),
        "a measured request rate",
    )
    assert [row[0] for row in iris.rows("SELECT trouble FROM scaling_sourcestate ORDER BY name")] == ["", ""]
    everything = iris.everything()
    kill(iris.pid, signal.SIGINT)
    assert iris.wait(15) == 0
    assert not alive(everything)


def test_a_killed_fleet_comes_back_with_its_replicas(iris: Up) -> None:
    before = iris.rows("SELECT count(*) FROM scaling_scaler WHERE json_array_length(replicas) > 0")
    old = iris.children()["fleet"]
    kill(old)
    within(60, lambda: iris.children().get("fleet", old) != old, "a new fleet")
    assert iris.rows("SELECT count(*) FROM scaling_deployment WHERE gone_at IS NOT NULL") == [(0,)]
    assert iris.rows("SELECT count(*) FROM scaling_scaler WHERE json_array_length(replicas) > 0") == before
