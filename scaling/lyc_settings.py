"""The replica scaler's settings: every LYC_* variable and the Gateway's two, read from the environment once.

A wrong value names its variable, the text it got and what was expected; nothing is guessed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_HOST_PORT = re.compile(r"([A-Za-z0-9.\-]*|\[[0-9A-Fa-f:.]+\]):(\d{1,5})")
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_PROM_DURATION = re.compile(r"(?=.*[1-9])(\d{1,6}(ms|s|m|h|d|w|y))+", re.ASCII)

# A tick may take at most this long (REPLICAS section 1), whatever a call's own time-out allows.
TICK_TIMEOUT_SECONDS = 10.0
_LONGEST_SECONDS = 366 * 86400.0
# Between which bounds a duration can be meant, in seconds; those that are not here: above zero, at most 366 days.
_PERIOD, _SILENCE = (0.1, 3600.0), (0.1, 86400.0)
_DURATION_BOUNDS = {
    "LYC_SCRAPE_INTERVAL": _PERIOD,
    "LYC_RECONCILE_INTERVAL": _PERIOD,
    "LYC_SCALER_HEARTBEAT_INTERVAL": _PERIOD,
    "LYC_LIFECYCLE_TICK_INTERVAL": _PERIOD,
    "LYC_GATEWAY_TIMEOUT": _PERIOD,
    "LYC_SCALER_ID_TTL": _SILENCE,
    "LYC_LIFECYCLE_MANAGER_ID_TTL": _SILENCE,
}


class BadSetting(ValueError):
    """A variable that cannot be read; the text is for the person who set it."""


@dataclass(frozen=True, slots=True)
class LycSettings:
    """Durations in seconds. `gateway_url` "" means that no Gateway is used: the replica loops do not run.

    `http_address` (host, port) serves health, readiness and metrics of a process without pages; None: `off`.
    """

    scrape_interval_seconds: float
    reconcile_interval_seconds: float
    heartbeat_interval_seconds: float
    scaler_ttl_seconds: float
    max_deployments: int
    lifecycle_interval_seconds: float
    lifecycle_ttl_seconds: float
    zero_threshold_seconds: float
    crashed_threshold_seconds: float
    lifecycle_cooldown_seconds: float
    health_check_seconds: float
    cooldown_seconds: float
    health_grace_seconds: float
    tolerance: float
    gateway_url: str
    gateway_token: str
    gateway_timeout_seconds: float
    gateway_replicas_path: str
    prometheus_address: str
    prometheus_username: str
    prometheus_password: str
    prometheus_p95_metric: str
    prometheus_count_metric: str
    prometheus_label: str
    prometheus_window: str
    redis_url: str
    http_address: tuple[str, int] | None

    @property
    def enabled(self) -> bool:
        return bool(self.gateway_url)

    @property
    def prometheus_stand_in(self) -> str:
        """What plays Prometheus' part, where it is not Prometheus: the demonstration's Gateway answers its queries."""
        plays = bool(self.gateway_url) and self.prometheus_address == f"{self.gateway_url}/prometheus"
        return "the demonstration's own fleet" if plays else ""


def seconds(text: str) -> float:
    """`5s`, `1m`, `1h30m`, `500ms` in seconds; ValueError otherwise."""
    compact = text.strip().lower()
    parts = _PART.findall(compact)
    if not parts or "".join(number + unit for number, unit in parts) != compact:
        raise ValueError(f"expected a duration such as 5s, 1m, 1h30m or 500ms, got {text[:60]!r}")
    total = sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts)
    if not 0 < total <= _LONGEST_SECONDS:
        raise ValueError(f"expected a duration above zero and of at most 366 days, got {text[:60]!r}")
    return total


def names_a_host(address: str) -> bool:
    """Whether an address has a host and, where it names one, a port that there is."""
    try:
        parts = urlsplit(address)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


class _Reader:
    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def text(self, name: str, default: str = "") -> str:
        return self._environ.get(name, "").strip() or default

    def duration(self, name: str, default: str) -> float:
        text = self.text(name, default)
        try:
            found = seconds(text)
        except ValueError as wrong:
            raise BadSetting(f"{name}: {wrong}") from None
        least, most = _DURATION_BOUNDS.get(name, (0.0, _LONGEST_SECONDS))
        if not least <= found <= most:
            raise BadSetting(f"{name}: expected a duration from {least:g} s to {most:g} s, got {text[:60]!r}")
        return found

    def whole(self, name: str, default: int, minimum: int) -> int:
        text = self.text(name, str(default))
        if not (text.isascii() and text.isdecimal()) or not minimum <= int(text[:12]) <= 1_000_000:
            raise BadSetting(f"{name}: expected a whole number from {minimum} to 1,000,000, got {text[:60]!r}")
        return int(text)

    def share(self, name: str, default: str) -> float:
        text = self.text(name, default)
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value < 1:
            raise BadSetting(f"{name}: expected a number from 0 to below 1, got {text[:60]!r}")
        return value

    def url(self, name: str, default: str = "") -> str:
        text = self.text(name, default)
        if text and not (re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#]*)?", text) and names_a_host(text)):
            raise BadSetting(f"{name}: expected http://host:port or https://host, got {text[:80]!r}")
        return text.rstrip("/")

    def matching(self, name: str, default: str, form: re.Pattern[str], what: str) -> str:
        text = self.text(name, default)
        if not form.fullmatch(text):
            raise BadSetting(f"{name}: expected {what}, got {text[:60]!r}")
        return text

    def address(self, name: str, default: str) -> tuple[str, int] | None:
        text = self.text(name, default)
        if text.lower() == "off":
            return None
        form = _HOST_PORT.fullmatch(text)
        if form is None or not int(form[2]) <= 65535:
            raise BadSetting(f"{name}: expected host:port, :port or off, got {text[:60]!r}")
        return form[1].strip("[]") or "0.0.0.0", int(form[2])  # noqa: S104 - the documented default is every address


def read(environ: Mapping[str, str]) -> LycSettings:
    """Read all of them; raises BadSetting naming the first wrong variable, or two that contradict each other."""
    given = _Reader(environ)
    settings = LycSettings(
        scrape_interval_seconds=given.duration("LYC_SCRAPE_INTERVAL", "30s"),
        reconcile_interval_seconds=given.duration("LYC_RECONCILE_INTERVAL", "5s"),
        heartbeat_interval_seconds=given.duration("LYC_SCALER_HEARTBEAT_INTERVAL", "5s"),
        scaler_ttl_seconds=given.duration("LYC_SCALER_ID_TTL", "30s"),
        max_deployments=given.whole("LYC_MAX_DEPLOYMENTS", 10, 0),
        lifecycle_interval_seconds=given.duration("LYC_LIFECYCLE_TICK_INTERVAL", "15s"),
        lifecycle_ttl_seconds=given.duration("LYC_LIFECYCLE_MANAGER_ID_TTL", "60s"),
        zero_threshold_seconds=given.duration("LYC_ZERO_SCALE_THRESHOLD", "1h"),
        crashed_threshold_seconds=given.duration("LYC_CRASHED_THRESHOLD", "1h"),
        lifecycle_cooldown_seconds=given.duration("LYC_LIFECYCLE_COOLDOWN", "60s"),
        health_check_seconds=given.duration("LYC_HEALTH_CHECK_THRESHOLD", "1m"),
        cooldown_seconds=given.duration("LYC_COOLDOWN", "120s"),
        health_grace_seconds=given.duration("LYC_HEALTH_GRACE", "1h"),
        tolerance=given.share("LYC_TOLERANCE", "0.1"),
        gateway_url=given.url("API_BASE_URL"),
        gateway_token=given.text("DEPLOYMENT_SCALER_SERVICE_TOKEN"),
        gateway_timeout_seconds=given.duration("LYC_GATEWAY_TIMEOUT", "30s"),
        gateway_replicas_path=given.text("LYC_GATEWAY_REPLICAS_PATH", "/api/v2/external/inference/{id}/replicas"),
        prometheus_address=given.url("LYC_PROMETHEUS_ADDR", "http://localhost:9090"),
        prometheus_username=given.text("LYC_PROMETHEUS_USERNAME"),
        prometheus_password=given.text("LYC_PROMETHEUS_PASSWORD"),
        prometheus_p95_metric=given.matching(
            "LYC_PROMETHEUS_LATENCY_METRIC", "lyceum_inference_latency_millis_bucket", _NAME, "a metric's name"
        ),
        prometheus_count_metric=given.matching(
            "LYC_PROMETHEUS_COUNT_METRIC", "lyceum_inference_latency_millis_count", _NAME, "a metric's name"
        ),
        prometheus_label=given.matching("LYC_PROMETHEUS_LABEL", "deployment_id", _LABEL, "a label's name"),
        prometheus_window=given.matching(
            "LYC_PROMETHEUS_WINDOW", "1m", _PROM_DURATION, "a duration of Prometheus such as 1m"
        ),
        redis_url=_redis_url(given),
        http_address=given.address("LYC_HTTP_ADDR", ":8082"),
    )
    _check(settings)
    return settings


def _redis_url(given: _Reader) -> str:
    host, password = given.text("LYC_REDIS_ADDR"), given.text("LYC_REDIS_PASSWORD")
    if not host:
        return ""
    form = _HOST_PORT.fullmatch(host)
    if form is None or not form[1] or not 1 <= int(form[2]) <= 65535:
        raise BadSetting(f"LYC_REDIS_ADDR: expected host:port, got {host[:60]!r}")
    return f"redis://:{quote(password, safe='')}@{host}/0" if password else f"redis://{host}/0"


def _check(settings: LycSettings) -> None:
    if settings.gateway_url and not settings.gateway_token:
        raise BadSetting("DEPLOYMENT_SCALER_SERVICE_TOKEN: must be set when API_BASE_URL names a Gateway")
    if settings.gateway_token and not settings.gateway_url:
        raise BadSetting("API_BASE_URL: must be set when DEPLOYMENT_SCALER_SERVICE_TOKEN is")
    ttl, beat = settings.scaler_ttl_seconds, settings.heartbeat_interval_seconds
    if ttl <= 2 * beat:
        raise BadSetting(
            f"LYC_SCALER_ID_TTL: expected more than two of LYC_SCALER_HEARTBEAT_INTERVAL ({beat:g} s each), "
            f"got {ttl:g} s"
        )
    if settings.lifecycle_ttl_seconds <= settings.lifecycle_interval_seconds:
        raise BadSetting(
            "LYC_LIFECYCLE_MANAGER_ID_TTL: expected more than LYC_LIFECYCLE_TICK_INTERVAL "
            f"({settings.lifecycle_interval_seconds:g} s), got {settings.lifecycle_ttl_seconds:g} s"
        )
    if "{id}" not in settings.gateway_replicas_path:
        raise BadSetting(
            f"LYC_GATEWAY_REPLICAS_PATH: expected a path with {{id}}, got {settings.gateway_replicas_path[:80]!r}"
        )
