"""What Prometheus says of the deployments: p95 latency and requests per second; what failed where it says nothing."""

from scaling.sources.prometheus.answers import MetricsAnswer, MetricsHistory
from scaling.sources.prometheus.settings import PrometheusSettings
from scaling.sources.prometheus.source import PrometheusSource

__all__ = ["MetricsAnswer", "MetricsHistory", "PrometheusSettings", "PrometheusSource"]
