"""What came back over HTTP, read as the query API's JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scaling.characters import harmless
from scaling.sources.prometheus.errors import PrometheusBroken, PrometheusRefused
from scaling.sources.prometheus.watched import WholeAnswer

MOST_WARNINGS = 5
LONGEST_TEXT = 300
INFO_PREFIX = "PromQL info:"

REMEDIES: Mapping[int, str] = {
    401: "check LYC_PROMETHEUS_USERNAME and LYC_PROMETHEUS_PASSWORD",
    403: "check LYC_PROMETHEUS_USERNAME and LYC_PROMETHEUS_PASSWORD",
    404: "check the path in LYC_PROMETHEUS_ADDR",
}


@dataclass(frozen=True, slots=True)
class Payload:
    """A good answer: its series, what makes it partial, and what is only worth knowing.

    `infos` are Prometheus' remarks on the query ("metric might not be a counter"), which say nothing of missing data;
    servers 2.48 to 2.53 sent them among the warnings, marked by a prefix.
    """

    series: list[Any]
    warnings: tuple[str, ...] = ()
    infos: tuple[str, ...] = ()


def read_payload(answer: WholeAnswer, result_type: str) -> Payload:
    """The series of an answer of that type; raises PrometheusRefused or PrometheusBroken."""
    if answer.status_code != 200:
        raise PrometheusRefused(_refusal(answer), answer.status_code)
    body = answer.parsed
    if not isinstance(body, dict):
        raise PrometheusBroken(f"Prometheus answered with HTTP 200 and no JSON object: {_beginning(answer)}.")
    if body.get("status") != "success":
        raise PrometheusBroken(
            f"Prometheus answered with HTTP 200 and an error: {_error_in(body) or 'no reason given'}."
        )
    data = body.get("data")
    data = data if isinstance(data, dict) else {}
    series = data.get("result")
    if not isinstance(series, list) or not all(isinstance(each, dict) for each in series):
        raise PrometheusBroken("Prometheus answered with HTTP 200 and no list of series in data.result.")
    if data.get("resultType", result_type) != result_type:
        raise PrometheusBroken(f"Prometheus answered with a {data['resultType']!s:.20}; expected a {result_type}.")
    said = _texts(body.get("warnings"))
    return Payload(
        series,
        warnings=tuple(text for text in said if not text.startswith(INFO_PREFIX)),
        infos=(*(text for text in said if text.startswith(INFO_PREFIX)), *_texts(body.get("infos"))),
    )


def _refusal(answer: WholeAnswer) -> str:
    status = f"HTTP {answer.status_code}"
    if 300 <= answer.status_code < 400:
        target = f"{answer.headers.get('Location', 'elsewhere')}".partition("?")[0]
        return f"Prometheus redirects ({status}) to {target:.200}; set LYC_PROMETHEUS_ADDR to the address that answers."
    body = answer.parsed
    said = (_error_in(body) if isinstance(body, dict) else "") or answer.reason or _beginning(answer)
    remedy = REMEDIES.get(answer.status_code)
    return f"Prometheus answered with {status}: {remedy or said}."


def _error_in(body: dict[str, Any]) -> str:
    return " ".join(str(body[key]) for key in ("errorType", "error") if body.get(key))[:LONGEST_TEXT].rstrip(". ")


def _beginning(answer: WholeAnswer) -> str:
    return " ".join(answer.content[:80].decode(errors="replace").split()) or "nothing"


def _texts(said: object) -> tuple[str, ...]:
    """Warnings of any shape: one that is not a list is a warning all the same."""
    if not said:
        return ()
    texts = said if isinstance(said, list) else [said]
    shown = tuple(harmless(str(text)[:LONGEST_TEXT]) for text in texts[:MOST_WARNINGS])
    hidden = len(texts) - len(shown)
    return (*shown, f"and {hidden} more") if hidden else shown
