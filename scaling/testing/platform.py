"""A platform for scripts and tests: it accepts creates at once and boots slices by the clock it is given."""

from collections.abc import Sequence

from scaling.autoscaler.models import Listing
from scaling.scenarios.cluster_cloud import Cloud
from scaling.scenarios.cluster_scenario import DEFAULT_BOOT_SECONDS, FailRule


class MockPlatform:
    """`name` is the platform its groups belong to. While `list_error` is set, listing fails with those words."""

    def __init__(self, name: str, cloud: Cloud) -> None:
        self.name = name
        self.cloud = cloud
        self.list_error = ""
        self.created: list[str] = []
        self.deleted: list[str] = []

    def list_slices(self, now: float) -> Listing:
        return Listing(error=self.list_error) if self.list_error else Listing(self.cloud.listing(self.name, now))

    def create_slice(self, name: str, group: str, now: float) -> str | None:
        """None when accepted, else the platform's words."""
        self.created.append(name)
        return self.cloud.create(name, group, self.name, now)

    def delete_slice(self, name: str) -> None:
        """The slice is told to go; it is gone by the next cycle."""
        self.deleted.append(name)
        self.cloud.delete(name)

    def lose_worker(self, name: str) -> None:
        """One worker of the slice is lost."""
        self.cloud.slices[name].worker_lost = True


def make_mock_platform(
    name: str = "simulated",
    *,
    boot_seconds: float = DEFAULT_BOOT_SECONDS,
    fail: Sequence[FailRule | str] = (),
) -> MockPlatform:
    """A platform that accepts every create, but for what `fail` refuses: rules, or error texts that hold for ever."""
    rules = [FailRule(None, rule) if isinstance(rule, str) else rule for rule in fail]
    return MockPlatform(name, Cloud(boot_seconds, rules))
