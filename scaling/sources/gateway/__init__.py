"""The Gateway: what deployments and replicas there are, and the one call that changes them (docs/gateway.md)."""

from scaling.sources.gateway.client import Gateway
from scaling.sources.gateway.errors import (
    GatewayError,
    GatewayMalformed,
    GatewayRefused,
    GatewayTimedOut,
    GatewayUnreachable,
)
from scaling.sources.gateway.records import FleetList, ListedDeployment, ScaleAnswer, ScaleCall
from scaling.sources.gateway.settings import GatewaySettings

__all__ = [
    "FleetList",
    "Gateway",
    "GatewayError",
    "GatewayMalformed",
    "GatewayRefused",
    "GatewaySettings",
    "GatewayTimedOut",
    "GatewayUnreachable",
    "ListedDeployment",
    "ScaleAnswer",
    "ScaleCall",
]
