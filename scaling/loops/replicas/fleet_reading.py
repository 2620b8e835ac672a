"""Reads the Gateway's whole list and the metrics side by side, each bounded, neither keeping the other waiting."""

from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from scaling.sources import configured
from scaling.sources.gateway import FleetList, GatewayError, ListedDeployment
from scaling.sources.prometheus import MetricsAnswer


@dataclass(frozen=True, slots=True)
class Fleet:
    """What the Gateway lists, by id; `trouble` says why nothing is known, and then nothing is in it."""

    listed: dict[str, ListedDeployment]
    problems: tuple[str, ...] = ()
    trouble: str = ""


def read_fleet(deadline_seconds: float) -> Fleet:
    """The whole list, or the trouble; never a part of it."""
    try:
        answer: FleetList = configured.gateway().fleet(deadline_seconds)
    except GatewayError as error:
        return Fleet({}, trouble=error.message)
    return Fleet({one.id: one for one in answer.deployments}, answer.problems)


def read_both(ids: Collection[str], now_seconds: float, deadline_seconds: float) -> tuple[Fleet, MetricsAnswer]:
    """The fleet and the metrics of `ids`; both within the deadline."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="metrics") as helper:
        metrics = helper.submit(_metrics(ids, now_seconds, deadline_seconds))
        fleet = read_fleet(deadline_seconds)
        return fleet, metrics.result()


def _metrics(ids: Collection[str], now_seconds: float, deadline_seconds: float) -> Callable[[], MetricsAnswer]:
    source = configured.prometheus()
    return lambda: source.read(ids, now_seconds, deadline_seconds)
