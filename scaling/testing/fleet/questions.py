"""The two shapes of PromQL that Iris asks, read; the stand-in answers no others."""

import json
import re
from dataclasses import dataclass
from enum import StrEnum

METRIC = "lyceum_inference_latency_millis"
LABEL = "deployment_id"

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LABEL_NAME = r"(?P<label>[a-zA-Z_]\w*)"
_STRING = r'"(?:[^"\\]|\\.)*"'
_RATE = (
    r"rate\((?P<metric>[a-zA-Z_:][\w:]*)"
    rf"(?:\{{(?P<matched>[a-zA-Z_]\w*)(?P<sign>=~?)(?P<value>{_STRING})\}})?"
    r"\[(?P<window>(?:\d+(?:ms|[smhd]))+)\]\)"
)
_P95 = re.compile(rf"histogram_quantile\(0\.95,sum by\({_LABEL_NAME},le\)\({_RATE}\)\)")
_RPS = re.compile(rf"sum by\({_LABEL_NAME}\)\({_RATE}\)")
# Blanks mean nothing to PromQL outside of strings, but for the one in "sum by".
_BLANKS = re.compile(rf"({_STRING})|\s*([(),\[\]{{}}])\s*")


class Asked(StrEnum):
    P95 = "p95"
    RPS = "rps"


class UnknownQuestion(ValueError):
    """A query of another shape."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query understood; `ids` restricts it to deployments whose id matches as a whole, None to none."""

    asked: Asked
    metric: str
    label: str
    window_seconds: float
    ids: re.Pattern[str] | None

    @property
    def is_known(self) -> bool:
        """Whether there is such a metric with such a label; a query for another one finds nothing."""
        suffix = "_bucket" if self.asked is Asked.P95 else "_count"
        return self.metric == METRIC + suffix and self.label == LABEL

    def covers(self, deployment_id: str) -> bool:
        return self.ids is None or self.ids.fullmatch(deployment_id) is not None


def read_question(query: str) -> Question:
    """Raises UnknownQuestion, one sentence."""
    compact = _BLANKS.sub(lambda found: found[1] or found[2], " ".join(query.split()))
    for asked, shape in ((Asked.P95, _P95), (Asked.RPS, _RPS)):
        found = shape.fullmatch(compact)
        if found and found["matched"] in (None, found["label"]):
            return Question(asked, found["metric"], found["label"], _seconds(found["window"]), _ids(found))
    raise UnknownQuestion(
        "this stand-in answers only histogram_quantile(0.95, sum by (label, le) (rate(metric[window]))) and "
        "sum by (label) (rate(metric[window])), each for all or for some values of the label"
    )


def _seconds(window: str) -> float:
    return sum(int(number) * _SECONDS[unit] for number, unit in re.findall(r"(\d+)(ms|[smhd])", window))


def _ids(found: re.Match[str]) -> re.Pattern[str] | None:
    if found["value"] is None:
        return None
    try:
        text = json.loads(found["value"])
        return re.compile(text if found["sign"] == "=~" else re.escape(text))
    except (ValueError, re.error):
        raise UnknownQuestion(f"the matcher {found['value'][:60]} cannot be read") from None
