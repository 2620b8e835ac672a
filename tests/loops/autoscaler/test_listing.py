"""Listing several platforms at once within one time-out."""

import time
from threading import Event

import pytest
from pytest_django import Settings

from scaling.autoscaler.models import Listing
from scaling.loops.autoscaler import listing
from scaling.models import Platform


def test_platforms_that_hang_together_cost_one_time_out_and_not_one_each(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.IRIS_PLATFORM_TIMEOUT = 1.5
    answer = Event()

    def hang(platform: Platform, _installation: str) -> Listing:
        if platform.name != "prompt":
            answer.wait(10)
        return Listing()

    monkeypatch.setattr(listing, "_in_thread", hang)
    began = time.monotonic()
    found = listing.list_platforms([Platform(name=name) for name in ("a", "b", "c", "d", "prompt")], "iris-test")
    took = time.monotonic() - began
    answer.set()
    assert [name for name, told in found.items() if told.error] == ["a", "b", "c", "d"]
    assert took < 4 * 1.5
