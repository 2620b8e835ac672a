"""Draws that depend on names and times only, so that processes and restarts agree on them."""

import hashlib
import math

from scaling.platforms.base import PlatformWorkerState
from scaling.platforms.simulated.records import CallKind, WorkerLoss
from scaling.platforms.simulated.settings import CloudSettings

_FRACTION = float(2**64)


def draw(*parts: object) -> float:
    """A number in [0, 1) that the parts decide."""
    digest = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / _FRACTION


def boot_times(
    settings: CloudSettings, cloud: str, name: str, workers: int, seconds: float | None
) -> tuple[float, ...]:
    """Seconds from acceptance until each worker is READY; `seconds` overrides the settings, without a spread."""
    if seconds is not None:
        return (seconds,) * workers
    spread = settings.boot_spread_seconds
    return tuple(
        settings.boot_seconds + spread * draw(settings.seed, cloud, name, "boot", index) for index in range(workers)
    )


def zone_out_of_stock(settings: CloudSettings, cloud: str, zone: str, now: float) -> bool:
    """Whether the zone is out of stock at this moment, by chance."""
    if settings.seed is None or not settings.stockout_chance:
        return False
    period = settings.stockout_period_seconds
    this = math.floor(now / period)
    return any(_stockout_holds(settings, (cloud, zone, window), window * period, now) for window in (this - 1, this))


def _stockout_holds(settings: CloudSettings, key: tuple[str, str, int], opens: float, now: float) -> bool:
    if draw(settings.seed, *key, "stockout") >= settings.stockout_chance:
        return False
    start = opens + settings.stockout_period_seconds * draw(settings.seed, *key, "moment")
    return start <= now < start + settings.stockout_seconds


def call_breaks(settings: CloudSettings, cloud: str, kind: CallKind, name: str, earlier: int) -> bool:
    """Whether this call gets no answer; `earlier` counts the calls of that kind for that name before it."""
    return _happens(settings, settings.outage_chance, cloud, kind, name, earlier, "outage")


def call_is_slow(settings: CloudSettings, cloud: str, kind: CallKind, name: str, earlier: int) -> bool:
    return _happens(settings, settings.slow_chance, cloud, kind, name, earlier, "slow")


def boot_fails(settings: CloudSettings, cloud: str, name: str) -> bool:
    return _happens(settings, settings.boot_failure_chance, cloud, name, "boot failure")


def _happens(settings: CloudSettings, chance: float, *parts: object) -> bool:
    return settings.seed is not None and draw(settings.seed, *parts) < chance


def losses(
    settings: CloudSettings, cloud: str, name: str, workers: int, ready_at: float, preemptible: bool
) -> tuple[WorkerLoss, ...]:
    """What will happen to the workers of a slice READY at `ready_at`: at most one preemption and one silence."""
    if settings.seed is None or not workers:
        return ()
    found = []
    if preemptible and settings.preemptions_per_hour:
        at = ready_at + _waiting_time(settings.preemptions_per_hour, settings.seed, cloud, name, "preemption")
        worker = int(workers * draw(settings.seed, cloud, name, "preempted"))
        found.append(WorkerLoss(worker, PlatformWorkerState.NOT_FOUND, at))
    if settings.silences_per_hour:
        at = ready_at + _waiting_time(settings.silences_per_hour, settings.seed, cloud, name, "silence")
        worker = int(workers * draw(settings.seed, cloud, name, "silent"))
        found.append(WorkerLoss(worker, PlatformWorkerState.UNKNOWN, at, at + settings.silence_seconds))
    return tuple(found)


def _waiting_time(per_hour: float, *parts: object) -> float:
    """Seconds until the first event of a Poisson process with that rate."""
    return -math.log(1.0 - draw(*parts)) * 3600 / per_hour
