"""Where Prometheus is, and what the metrics are called there."""

import re
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit, urlunsplit

METRIC_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
DURATION = re.compile(r"(?=.*[1-9])(?:\d+y)?(?:\d+w)?(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?(?:\d+ms)?")
BUCKET_LABEL = "le"


@dataclass(frozen=True, slots=True)
class PrometheusSettings:
    """One Prometheus server, or anything that speaks its query API.

    `address` may have a path and credentials; `username` and `password` go before those. `p95_metric` is the
    histogram's `_bucket` series in milliseconds, `count_metric` the counter of requests, `label` the label that holds
    the deployment's id, `window` the range of `rate` as PromQL writes it. `timeout_seconds` bounds each query; the time
    left in the tick bounds it too. Raises ValueError naming the field and what was expected: names and window become
    part of the query, so nothing else may be in them.
    """

    address: str = "http://localhost:9090"
    username: str = ""
    password: str = field(default="", repr=False)
    p95_metric: str = "lyceum_inference_latency_millis_bucket"
    count_metric: str = "lyceum_inference_latency_millis_count"
    label: str = "deployment_id"
    window: str = "1m"
    timeout_seconds: float = 5.0

    def __post_init__(self) -> None:
        for name, text, pattern, expected in (
            ("p95_metric", self.p95_metric, METRIC_NAME, "a metric name: letters, digits, _ and :"),
            ("count_metric", self.count_metric, METRIC_NAME, "a metric name: letters, digits, _ and :"),
            ("label", self.label, LABEL_NAME, "a label name: letters, digits and _"),
            ("window", self.window, DURATION, "a duration such as 1m, 90s or 1h30m"),
        ):
            if not pattern.fullmatch(text):
                raise ValueError(f"{name} is {text!r}; expected {expected}.")
        if self.label == BUCKET_LABEL:
            raise ValueError("label is 'le', which holds the histogram's buckets; expected another label.")
        if not self.timeout_seconds > 0:
            raise ValueError(f"timeout_seconds is {self.timeout_seconds}; expected more than 0.")
        _check_address(self.address)

    @property
    def url(self) -> str:
        """The address without credentials and without a slash at its end; safe to show."""
        parts = urlsplit(self.address)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))

    @property
    def credentials(self) -> tuple[str, str] | None:
        """Name and password for basic auth, if there are any."""
        if self.username or self.password:
            return self.username, self.password
        parts = urlsplit(self.address)
        if parts.username is None:
            return None
        return unquote(parts.username), unquote(parts.password or "")


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        fine = fine and not (parts.query or parts.fragment or set(address) & set(" \t\r\n"))
    except ValueError:
        fine = False
    if not fine:
        shown = address.rpartition("@")[2]
        raise ValueError(f"address is {shown!r}; expected http://HOST:PORT or https://HOST, with or without a path.")
