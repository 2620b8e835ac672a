"""The platform in memory that tests of the loops use."""

import pytest

from scaling.platforms.base import (
    PlatformError,
    PlatformUnreachableError,
    PlatformWorkerState,
    Provisioner,
    SliceExistsError,
    SliceNotFoundError,
    SliceRequest,
)
from scaling.testing.scripted_provisioner import ScriptedProvisioner


def asked(name: str) -> SliceRequest:
    return SliceRequest(name, "g", "iris-1", "z", "tpu", "v5p-16", 4, 2, "on_demand")


def test_it_is_a_platform_with_idempotent_names() -> None:
    cloud: Provisioner = ScriptedProvisioner()
    cloud.create_slice(asked("a"))
    with pytest.raises(SliceExistsError):
        cloud.create_slice(asked("a"))
    with pytest.raises(SliceNotFoundError):
        cloud.delete_slice("a", "iris-2")
    cloud.delete_slice("a", "iris-1")
    assert [found.state for found in cloud.list_slices("iris-1")] == ["TERMINATING"]
    assert cloud.list_slices("iris-2") == []


def test_queued_answers_come_in_order_with_or_without_effect() -> None:
    cloud = ScriptedProvisioner()
    cloud.fail("create", "no capacity", None)
    cloud.fail("create", PlatformUnreachableError("time-out"), effect=True)
    with pytest.raises(PlatformError, match="no capacity"):
        cloud.create_slice(asked("a"))
    cloud.create_slice(asked("b"))
    with pytest.raises(PlatformUnreachableError):
        cloud.create_slice(asked("c"))
    cloud.create_slice(asked("d"))
    assert list(cloud.slices) == ["b", "c", "d"]
    assert cloud.calls == [("create", name) for name in "abcd"]


def test_hooks_stand_before_and_after_the_effect() -> None:
    cloud = ScriptedProvisioner()
    seen: list[tuple[str, str, int]] = []
    cloud.before = lambda kind, name: seen.append((kind, name, len(cloud.slices)))
    cloud.after = cloud.before
    cloud.create_slice(asked("a"))
    assert seen == [("create", "a", 0), ("create", "a", 1)]


def test_slices_become_ready_fail_lose_workers_and_vanish() -> None:
    cloud = ScriptedProvisioner()
    for name in "abc":
        cloud.create_slice(asked(name))
    cloud.make_ready("a")
    cloud.set_worker("a", 1, PlatformWorkerState.NOT_FOUND)
    cloud.make_failed("b", "host error")
    cloud.forget("c")
    found = {item.name: item for item in cloud.list_slices("iris-1")}
    assert [worker.state for worker in found["a"].workers] == ["READY", "NOT_FOUND"]
    assert (found["b"].state, found["b"].error) == ("FAILED", "host error")
    assert "c" not in found
