"""The replica scaler's variables: their defaults, their spelling, and one sentence for a wrong one."""

import pytest

from scaling.lyc_settings import BadSetting, read, seconds

GATEWAY = {"API_BASE_URL": "https://gateway.example/", "DEPLOYMENT_SCALER_SERVICE_TOKEN": "t"}


def test_without_any_variable_no_gateway_is_used_and_the_documented_defaults_hold() -> None:
    lyc = read({})
    assert not lyc.enabled
    assert (lyc.scrape_interval_seconds, lyc.reconcile_interval_seconds, lyc.heartbeat_interval_seconds) == (30, 5, 5)
    assert (lyc.scaler_ttl_seconds, lyc.max_deployments) == (30, 10)
    assert (lyc.lifecycle_interval_seconds, lyc.lifecycle_ttl_seconds) == (15, 60)
    assert (lyc.zero_threshold_seconds, lyc.crashed_threshold_seconds, lyc.lifecycle_cooldown_seconds) == (
        3600,
        3600,
        60,
    )
    assert (lyc.health_check_seconds, lyc.gateway_timeout_seconds) == (60, 30)
    assert lyc.prometheus_address == "http://localhost:9090"
    assert lyc.http_address == ("0.0.0.0", 8082)


@pytest.mark.parametrize(
    ("text", "expected"), [("5s", 5), ("1m", 60), ("1h30m", 5400), ("500ms", 0.5), ("1.5h", 5400), (" 2M ", 120)]
)
def test_durations_are_read_as_they_are_written(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["5", "s", "5 s", "-5s", "0s", "1h30", "5sec", "9999999h", "1e3s", "5s;", "٥s"])
def test_a_wrong_duration_names_the_variable_and_the_text(text: str) -> None:
    with pytest.raises(BadSetting, match=r"^LYC_SCRAPE_INTERVAL: expected a duration"):
        read({"LYC_SCRAPE_INTERVAL": text})


def test_a_gateway_needs_both_its_address_and_its_token() -> None:
    assert read(GATEWAY).gateway_url == "https://gateway.example"
    with pytest.raises(BadSetting, match=r"^DEPLOYMENT_SCALER_SERVICE_TOKEN: must be set"):
        read({"API_BASE_URL": "http://g"})
    with pytest.raises(BadSetting, match=r"^API_BASE_URL: must be set"):
        read({"DEPLOYMENT_SCALER_SERVICE_TOKEN": "t"})


def test_a_lease_of_two_heartbeats_or_less_is_refused_naming_both() -> None:
    given = {"LYC_SCALER_ID_TTL": "10s", "LYC_SCALER_HEARTBEAT_INTERVAL": "5s"}
    with pytest.raises(BadSetting, match=r"LYC_SCALER_ID_TTL.*LYC_SCALER_HEARTBEAT_INTERVAL \(5 s each\), got 10 s"):
        read(given)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("LYC_MAX_DEPLOYMENTS", "-1"),
        ("LYC_MAX_DEPLOYMENTS", "many"),
        ("LYC_TOLERANCE", "2"),
        ("LYC_PROMETHEUS_ADDR", "localhost:9090"),
        ("LYC_PROMETHEUS_ADDR", "http://localhost:99999"),
        ("LYC_PROMETHEUS_ADDR", "http://[localhost"),
        ("LYC_PROMETHEUS_WINDOW", "0s"),
        ("LYC_PROMETHEUS_WINDOW", "one minute"),
        ("LYC_PROMETHEUS_LABEL", "deployment-id"),
        ("LYC_REDIS_ADDR", "redis"),
        ("LYC_REDIS_ADDR", "redis:99999"),
        ("LYC_SCALER_HEARTBEAT_INTERVAL", "1ms"),
        ("LYC_SCRAPE_INTERVAL", "30d"),
        ("LYC_HTTP_ADDR", "8082"),
        ("LYC_GATEWAY_REPLICAS_PATH", "/replicas"),
    ],
)
def test_every_wrong_value_names_its_variable(name: str, text: str) -> None:
    with pytest.raises(BadSetting, match=f"^{name}: expected .*got"):
        read({**GATEWAY, name: text})


def test_redis_carries_the_queue_where_it_is_named() -> None:
    assert (
        read({"LYC_REDIS_ADDR": "cache:6379", "LYC_REDIS_PASSWORD": "p@ss"}).redis_url == "redis://:p%40ss@cache:6379/0"
    )
    assert read({}).redis_url == ""
