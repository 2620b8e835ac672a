"""The table of loops names things that exist."""

import inspect
from importlib import import_module

from django.conf import settings

from scaling.loops import queue
from scaling.loops.registry import LOOPS


def test_every_loop_names_a_body_that_exists_and_is_not_async() -> None:
    for spec in LOOPS.values():
        loaded = spec.load()
        assert not inspect.iscoroutinefunction(loaded), spec.name
        assert list(inspect.signature(loaded).parameters), spec.name
        module, _, function = spec.task.rpartition(".")
        assert queue.task_name(getattr(import_module(module), function)) == spec.task


def test_a_tick_lost_with_another_instances_worker_is_made_up_for_before_the_leases_are_over() -> None:
    lyc, scaler = settings.LYC, LOOPS["scaler"]
    assert scaler.lost_after_seconds + scaler.period_seconds < lyc.scaler_ttl_seconds
    assert LOOPS["manager"].lost_after_seconds < lyc.scaler_ttl_seconds
