"""Settings that cannot work are refused with a sentence that names the field."""

import pytest

from scaling.sources.prometheus import PrometheusSettings


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("p95_metric", "latency bucket"),
        ("p95_metric", 'x"} or vector(1) #'),
        ("count_metric", ""),
        ("count_metric", "9lives"),
        ("label", "deployment-id"),
        ("label", "le"),
        ("window", "1 minute"),
        ("window", "0s"),
        ("window", ""),
        ("window", "1m] offset 1h"),
        ("timeout_seconds", 0),
        ("timeout_seconds", float("nan")),
        ("address", "prometheus:9090"),
        ("address", "ftp://prometheus"),
        ("address", "http://"),
        ("address", "http://prometheus:port"),
        ("address", "http://prometheus/?a=b"),
        ("address", "http://pro metheus"),
    ],
)
def test_a_setting_that_cannot_work_is_refused_by_name(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=rf"^{field} is .*expected .*\.$"):
        PrometheusSettings(**{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("window", ["1m", "90s", "1h30m", "500ms", "1d", "10m0s"])
def test_windows_are_written_as_promql_writes_them(window: str) -> None:
    assert PrometheusSettings(window=window).window == window


def test_the_address_is_shown_without_credentials() -> None:
    settings = PrometheusSettings("http://ada:s%40fe@prometheus:9090/path/")
    assert settings.url == "http://prometheus:9090/path"
    assert settings.credentials == ("ada", "s@fe")


def test_a_refused_address_does_not_show_its_password() -> None:
    with pytest.raises(ValueError, match="address") as refusal:
        PrometheusSettings("ftp://ada:secret@prometheus")
    assert "secret" not in str(refusal.value)


def test_a_name_of_its_own_goes_before_the_one_in_the_address() -> None:
    assert PrometheusSettings("http://a:b@host", username="c", password="d").credentials == ("c", "d")


def test_without_a_name_there_are_no_credentials() -> None:
    assert PrometheusSettings("http://host").credentials is None


def test_the_password_is_not_in_the_settings_text() -> None:
    assert "secret" not in repr(PrometheusSettings("http://host", username="ada", password="secret"))
