"""Why a query brought no answer. The text of each is one sentence for people, and holds no credentials."""

from scaling.characters import harmless

ANSWERS_ALIKE = frozenset({401, 403, 404, 405, 407, 429})
"""Statuses that do not depend on what is asked (or, 429, that more questions make worse)."""


class PrometheusError(Exception):
    """A query that brought no answer that can be used."""

    def __init__(self, message: str) -> None:
        super().__init__(harmless(message))


class PrometheusUnreachable(PrometheusError):
    """No connection came about: refused, unknown host, no route, TLS not agreed, no connection in time."""


class PrometheusTimedOut(PrometheusError):
    """Connected, and no whole answer in the time there was."""


class PrometheusNotAsked(PrometheusTimedOut):
    """No time was left to ask at all."""


class PrometheusBroken(PrometheusError):
    """An answer that broke off, is too large, or is not what the query API sends."""


class PrometheusRefused(PrometheusError):
    """An HTTP status other than 200."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status

    @property
    def may_be_one_of_many(self) -> bool:
        """Whether a smaller question may be answered: 4xx and 5xx but for those that come whatever is asked."""
        return 400 <= self.status < 600 and self.status not in ANSWERS_ALIKE
