"""The PromQL that is asked.

Whole, a query names no deployment: one answer holds all there are, and those not asked for are passed over. Only a
part (and a look at one deployment's past) is restricted by id, with every id taken literally.
"""

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from scaling.sources.prometheus.settings import PrometheusSettings

# Beyond these a number is a fault of whoever exports it, and no load to scale by: a request that takes longer than a
# day, more requests in a second than any fleet serves.
MOST_P95_MS = 86_400_000.0
MOST_RPS = 1e9


@dataclass(frozen=True, slots=True)
class GroupedQuery:
    """One metric of many deployments: `text` for all there are, `text_for(ids)` for some.

    `most` is the largest value that a deployment can have, in the metric's own unit.
    """

    name: str
    label: str
    compose: Callable[[str], str]
    most: float = math.inf

    @property
    def text(self) -> str:
        return self.compose("")

    def text_for(self, ids: Sequence[str]) -> str:
        """Restricted to `ids`, whatever characters they hold."""
        if len(ids) == 1:
            return self.compose(f"{{{self.label}={_quoted(ids[0])}}}")
        return self.compose(f"{{{self.label}=~{_quoted('|'.join(re.escape(each) for each in ids))}}}")


def p95_query(settings: PrometheusSettings) -> GroupedQuery:
    """The 95th percentile of latency, in the histogram's unit."""
    return GroupedQuery("p95", settings.label, partial(_p95, settings), MOST_P95_MS)


def rps_query(settings: PrometheusSettings) -> GroupedQuery:
    """Requests per second over all replicas."""
    return GroupedQuery("rps", settings.label, partial(_rps, settings), MOST_RPS)


def _p95(settings: PrometheusSettings, matcher: str) -> str:
    rate = f"rate({settings.p95_metric}{matcher}[{settings.window}])"
    return f"histogram_quantile(0.95, sum by ({settings.label}, le) ({rate}))"


def _rps(settings: PrometheusSettings, matcher: str) -> str:
    return f"sum by ({settings.label}) (rate({settings.count_metric}{matcher}[{settings.window}]))"


def _quoted(text: str) -> str:
    """A PromQL string: its escapes are Go's, of which JSON's are a part."""
    return json.dumps(text, ensure_ascii=False)
