"""prometheus-api-client, held to a time and with nothing of the answer lost.

The library builds and sends every request (`custom_query`, `custom_query_range`) over the session it is given. What it
returns is not used: it drops warnings, and a 200 with an error body raises KeyError in it. The session keeps the whole
answer instead, and `payload` reads that. Its own time-out alone would not do (see `watched`), its default retries block
for seconds: each call runs in a thread of its own, is waited for so long and then ended.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from threading import Thread

import requests
from prometheus_api_client import PrometheusConnect
from urllib3.exceptions import TimeoutError as UrllibTimeoutError
from urllib3.util.retry import Retry

from scaling.sources.prometheus.errors import (
    PrometheusBroken,
    PrometheusError,
    PrometheusNotAsked,
    PrometheusTimedOut,
    PrometheusUnreachable,
)
from scaling.sources.prometheus.payload import Payload, read_payload
from scaling.sources.prometheus.settings import PrometheusSettings
from scaling.sources.prometheus.watched import (
    CALL,
    LARGEST_ANSWER_BYTES,
    AnswerTooLargeError,
    Call,
    WatchedAdapter,
    WatchedSession,
    WholeAnswer,
)

SERVER_SHARE = 0.9
"""How much of a query's time Prometheus may evaluate: it then says so itself, while there is time to ask for less."""


class PrometheusClient:
    """The query API of one server; may be used by several threads. Both questions raise PrometheusError."""

    def __init__(self, settings: PrometheusSettings) -> None:
        self._url = settings.url
        self._longest_seconds = settings.timeout_seconds
        credentials = settings.credentials
        session = WatchedSession()
        self._connect = PrometheusConnect(
            url=self._url,
            # As bytes, for requests would write text as latin-1.
            auth=tuple(part.encode() for part in credentials) if credentials else None,
            retry=Retry(total=0),
            session=session,
        )
        # The library has mounted an adapter of its own for this address.
        session.mount(self._url, WatchedAdapter())

    def instant(self, query: str, seconds: float) -> Payload:
        """The value of `query` at the server's present time; in `seconds` at most."""

        def send(limit: float) -> None:
            self._connect.custom_query(query, params=_for_server(limit), timeout=limit)

        return read_payload(self._answer(send, seconds), "vector")

    def ranged(self, query: str, start: float, end: float, step_seconds: float, seconds: float) -> Payload:
        """Its values from `start` to `end` (Unix seconds; the library rounds them to whole ones)."""
        times = (datetime.fromtimestamp(start, UTC), datetime.fromtimestamp(end, UTC), f"{step_seconds:.3f}")

        def send(limit: float) -> None:
            self._connect.custom_query_range(query, *times, params=_for_server(limit), timeout=limit)

        return read_payload(self._answer(send, seconds), "matrix")

    def close(self) -> None:
        """Close the connections that are at rest."""
        self._connect.close()

    def _answer(self, send: Callable[[float], None], seconds: float) -> WholeAnswer:
        """What the server sent, whatever its status; `send` is given the seconds there are."""
        limit = min(seconds, self._longest_seconds)
        if limit <= 0:
            raise PrometheusNotAsked("No time was left to ask Prometheus.")
        call = Call()
        Thread(target=_run, args=(call, send, limit), name="prometheus", daemon=True).start()
        if not call.done.wait(limit):
            call.expire()
            raise self._too_late(call)
        if call.answer is not None:
            return call.answer
        raise self._explain(call)

    def _too_late(self, call: Call) -> PrometheusError:
        """The time itself is left out: it is another one in each round, and the trouble is the same."""
        if call.connected:
            return PrometheusTimedOut(f"Prometheus at {self._url} gave no whole answer in time.")
        return PrometheusUnreachable(f"Prometheus at {self._url} accepted no connection in time.")

    def _explain(self, call: Call) -> PrometheusError:
        """Why there is no answer: without a connection it is unreachable, with one the query failed."""
        failure = call.failure
        if isinstance(failure, AnswerTooLargeError):
            return PrometheusBroken(f"The answer of Prometheus is larger than {LARGEST_ANSWER_BYTES} bytes.")
        if _is_timeout(failure):
            return self._too_late(call)
        if call.connected:
            return PrometheusBroken(f"Prometheus at {self._url} broke off its answer: {_cause(failure)}.")
        return PrometheusUnreachable(f"Prometheus cannot be reached at {self._url}: {_cause(failure)}.")


def _run(call: Call, send: Callable[[float], None], limit: float) -> None:
    CALL.set(call)
    try:
        send(limit)
    except Exception as failure:  # the library's own, of a bad answer, are as many as its lines; `payload` tells
        call.failure = failure
    finally:
        call.done.set()


def _for_server(limit: float) -> dict[str, str]:
    return {"timeout": f"{limit * SERVER_SHARE:.3f}"}


def _is_timeout(failure: Exception | None) -> bool:
    if isinstance(failure, requests.Timeout):
        return True
    return isinstance(failure, requests.ConnectionError) and any(
        isinstance(argument, UrllibTimeoutError) for argument in failure.args
    )


def _cause(failure: BaseException | None) -> str:
    """What lies under the layers of libraries, in the words of the system."""
    while failure is not None and (under := failure.__cause__ or failure.__context__) is not None:
        failure = under
    text = getattr(failure, "strerror", None) or str(failure)
    return text.rstrip(".") or type(failure).__name__
