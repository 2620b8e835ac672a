"""The last finite bucket, whatever else is among the series."""

from scaling.sources.prometheus.buckets import buckets_query, last_finite
from scaling.sources.prometheus.settings import PrometheusSettings


def series(*bounds: object) -> list[dict[str, object]]:
    return [{"metric": {"le": bound}, "value": [0, "1"]} for bound in bounds]


def test_it_is_the_largest_bound_that_is_a_number() -> None:
    assert last_finite(series("100", "2500", "+Inf", "1e3")) == 2500


def test_nothing_is_made_of_series_without_a_bound() -> None:
    assert last_finite([{"metric": {}}, {"value": [0, "1"]}, *series("+Inf", "NaN", "wide", None)]) is None
    assert last_finite([]) is None


def test_the_query_names_the_configured_metric() -> None:
    assert buckets_query(PrometheusSettings(p95_metric="latency_bucket")) == "group by (le) (latency_bucket)"
