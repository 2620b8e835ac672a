"""A simulated cloud on a clock that tests move, with its books in both databases where both are there."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from django.db import connection

from scaling.platforms.base import SliceRequest
from scaling.platforms.simulated import Books, CloudScript, CloudSettings, SimulatedProvisioner, SqliteStore, Store
from scaling.platforms.simulated.location import cloud_store

START = 1_700_000_000.0


@dataclass
class Rig:
    """A cloud, its client, its levers and its books on one clock; sleeping moves the clock."""

    store: Store
    settings: CloudSettings = field(default_factory=lambda: CloudSettings(boot_seconds=30, boot_spread_seconds=0))
    cloud: str = field(default_factory=lambda: f"cloud-{uuid.uuid4().hex[:12]}")
    at: float = START

    def now(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.at += seconds

    @property
    def client(self) -> SimulatedProvisioner:
        return SimulatedProvisioner(self.store, self.cloud, self.settings, now=self.now, sleep=self.sleep)

    @property
    def script(self) -> CloudScript:
        return CloudScript(self.store, self.cloud, now=self.now)

    @property
    def books(self) -> Books:
        return Books(self.store, self.cloud)

    def behave(self, **changes: object) -> None:
        """Change the cloud's settings."""
        self.settings = replace(self.settings, **changes)  # type: ignore[arg-type]

    def buy(self, name: str, **changes: object) -> SliceRequest:
        """Create one slice of the usual kind; returns what was asked for."""
        wanted = request(name, **changes)
        self.client.create_slice(wanted)
        return wanted

    def listed(self, installation: str = "iris-1") -> dict[str, str]:
        """{name: state} of what the platform lists."""
        return {found.name: str(found.state) for found in self.client.list_slices(installation)}


def request(name: str, **changes: object) -> SliceRequest:
    """A slice of one v5p-16: two workers of four chips."""
    usual = SliceRequest(
        name=name,
        group="tpu-v5p-16",
        installation="iris-1",
        zone="us-central1-a",
        device_type="tpu",
        device_variant="v5p-16",
        devices_per_worker=4,
        workers=2,
        capacity_type="on_demand",
        quota_pool="v5p/us-central1-a",
    )
    return replace(usual, **changes)  # type: ignore[arg-type]


@pytest.fixture
def rig(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Rig]:
    """Books where this run's database is: a file of their own, or a schema in the PostgreSQL database."""
    if connection.vendor == "postgresql":
        request.getfixturevalue("django_db_setup")
        yield Rig(cloud_store())
    else:
        yield Rig(SqliteStore(tmp_path / "cloud.sqlite3"))


@pytest.fixture
def new_request() -> Callable[..., SliceRequest]:
    return request
