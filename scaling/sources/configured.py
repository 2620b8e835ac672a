"""The sources of this process, made from the settings when first asked for."""

from functools import lru_cache

from django.conf import settings

from scaling.lyc_settings import LycSettings
from scaling.sources.gateway import Gateway, GatewaySettings
from scaling.sources.prometheus import PrometheusSettings, PrometheusSource


@lru_cache(maxsize=1)
def gateway() -> Gateway:
    """The Gateway's client, with one pool of connections in each process."""
    lyc: LycSettings = settings.LYC
    return Gateway(
        GatewaySettings(
            base_url=lyc.gateway_url,
            token=lyc.gateway_token,
            timeout_seconds=lyc.gateway_timeout_seconds,
            replicas_path=lyc.gateway_replicas_path,
        )
    )


@lru_cache(maxsize=1)
def prometheus() -> PrometheusSource:
    """The client of Prometheus."""
    lyc: LycSettings = settings.LYC
    return PrometheusSource(
        PrometheusSettings(
            address=lyc.prometheus_address,
            username=lyc.prometheus_username,
            password=lyc.prometheus_password,
            p95_metric=lyc.prometheus_p95_metric,
            count_metric=lyc.prometheus_count_metric,
            label=lyc.prometheus_label,
            window=lyc.prometheus_window,
        )
    )
