"""Why the Gateway's list could not be had; each message is one sentence for a person."""

from scaling.characters import harmless


class GatewayError(Exception):
    """The list could not be read as a whole, so nothing is known; `message` says why."""

    def __init__(self, message: str) -> None:
        self.message = harmless(message)
        super().__init__(self.message)


class GatewayUnreachable(GatewayError):
    """No connection, or one that broke off before an answer."""


class GatewayTimedOut(GatewayError):
    """No whole answer within the time given, however fast parts of it came."""


class GatewayRefused(GatewayError):
    """An answer with another status than 200."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class GatewayMalformed(GatewayError):
    """An answer that is not the whole of what docs/gateway.openapi.yaml describes; the message names the place."""
