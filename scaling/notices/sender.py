"""A process of its own for messages, one at a time: reads an order as a line of JSON, sends it by the notification
library, tells in a line how it was.

Alone, so that its time is bounded whatever the library waits for, nothing it prints or logs reaches anybody (it knows
the channel's secret), and neither web nor ticker has to load it. Knows neither Django nor the database.

Order: `{"url", "title", "body", "kind", "id", "seconds"}`, or `{"url", "check": true}`, which sends nothing.
Answer: `{"ok", "error", "status", "retry_after", "service"}`, with `"last": true` where the process ends with it.
"""

import email.utils
import json
import logging
import os
import signal
import sys
import time
from http import HTTPStatus
from typing import Any, NoReturn

import requests
from requests.adapters import HTTPAdapter

from scaling.notices import addresses

ERROR_CHARACTERS = 300
UNKNOWN = "no service of the notification library has an address of this form"
_TYPES = {"new": "warning", "open": "warning", "again": "warning", "over": "success", "test": "info"}
# The library says less about a failure than what it ran into.
_CAUSES = (
    ("Connection refused", "the connection was refused"),
    ("NameResolutionError", "its name cannot be resolved"),
    ("Name or service not known", "its name cannot be resolved"),
    ("getaddrinfo", "its name cannot be resolved"),
    ("nodename nor servname", "its name cannot be resolved"),
    ("Temporary failure in name resolution", "its name cannot be resolved"),
    ("CERTIFICATE_VERIFY_FAILED", "its certificate is not accepted"),
    ("timed out", "it did not answer in time"),
    ("unexpectedly closed", "it closed the connection"),
    ("RemoteDisconnected", "it closed the connection without an answer"),
    ("Connection reset", "it closed the connection"),
    ("Connection aborted", "it closed the connection"),
)


class Observer(HTTPAdapter):
    """Notes the last answer, or why there was none: the library tells its callers yes or no only."""

    status: int | None = None
    retry_after: float | None = None
    trouble: str = ""

    def send(self, *args: Any, **kwargs: Any) -> requests.Response:
        try:
            response = super().send(*args, **kwargs)
        except requests.RequestException as error:
            Observer.status, Observer.trouble = None, str(error)
            raise
        Observer.status, Observer.trouble = response.status_code, ""
        Observer.retry_after = _seconds(response.headers.get("Retry-After", ""))
        return response


class Overheard(logging.Handler):
    """What the library logs, for where it used no HTTP."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.causes: list[str] = []
        self.warnings: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text.startswith("Socket Exception: "):
            self.causes.append(text.removeprefix("Socket Exception: "))
        elif record.levelno >= logging.WARNING:
            self.warnings.append(text)


def carry_out(order: dict[str, Any]) -> dict[str, Any]:
    """The answer to an order. Its error is a part of a sentence, without anything of the address."""
    import apprise

    Observer.status, Observer.retry_after, Observer.trouble = None, None, ""
    vars(requests.sessions)["HTTPAdapter"] = Observer
    overheard = Overheard()
    logger = logging.getLogger("apprise")
    logger.handlers, logger.propagate = [overheard], False
    logger.setLevel(logging.DEBUG)
    service = find_service(order["url"])
    if service is None:
        return answer(error=UNKNOWN)
    name = str(service.service_name)
    if order.get("check"):
        return answer(ok=True, service=name)
    service.socket_connect_timeout = service.socket_read_timeout = float(order["seconds"])
    service.request_rate_per_sec = 0
    if hasattr(service, "payload_extras") and not addresses.is_for_slack(order["url"]):
        service.payload_extras.setdefault("id", order["id"])
    body = order["body"]
    if addresses.is_for_slack(order["url"]):
        body = f"*{order['title']}*\n{body}"
    sent = service.notify(title=order["title"], body=body, notify_type=apprise.NotifyType(_TYPES[order["kind"]]))
    if sent:
        return answer(ok=True, service=name)
    error = addresses.scrubbed(_why(overheard), order["url"])[:ERROR_CHARACTERS]
    return answer(error=error, status=Observer.status, retry_after=Observer.retry_after, service=name)


def find_service(url: str) -> Any:
    """The library's service for an address; None where there is none. A plain web address is a webhook."""
    import apprise

    asset = apprise.AppriseAsset(secure_logging=True, async_mode=False, app_id="Iris", plugin_paths=[])
    is_for_slack = addresses.is_for_slack(url)
    found = None if is_for_slack else apprise.Apprise.instantiate(url, asset=asset)
    if found is None and (is_for_slack or url.lower().startswith(("http://", "https://"))):
        webhook = addresses.as_webhook(url)
        found = apprise.Apprise.instantiate(webhook.service, asset=asset)
        if found is not None:
            vars(found).update(fullpath=webhook.path, params=webhook.query, password=found.password or "")
    return found


def answer(
    *, ok: bool = False, error: str = "", status: int | None = None, retry_after: float | None = None, service: str = ""
) -> dict[str, Any]:
    return {"ok": ok, "error": error, "status": status, "retry_after": retry_after, "service": service}


def _why(overheard: Overheard) -> str:
    if Observer.status is not None:
        asks = "" if Observer.retry_after is None else f" and asks to wait {Observer.retry_after:g} s"
        return f"it answered {Observer.status}{_phrase(Observer.status)}{asks}"
    told = Observer.trouble or next(iter(overheard.causes), "")
    for sign, words in _CAUSES:
        if sign in told:
            return words
    told = told or next(iter(overheard.warnings), "") or "the notification library says no more"
    return f"it was not taken: {' '.join(told.split())}"


def _phrase(status: int) -> str:
    try:
        return f" ({HTTPStatus(status).phrase})"
    except ValueError:
        return ""


def _seconds(text: str) -> float | None:
    """Retry-After: seconds or a date."""
    if text.strip().isascii() and text.strip().isdigit():
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def main() -> None:
    told = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)

    def tell(result: dict[str, Any]) -> None:
        os.write(told, json.dumps(result).encode() + b"\n")

    def give_up(seconds: float) -> NoReturn:
        tell({**answer(error=f"it did not answer within {seconds:g} s"), "last": True})
        # At once: whatever threads or sockets the library still holds.
        os._exit(0)

    # Loading the library with all its services is not the receiver's time.
    find_service("json://localhost")
    for line in sys.stdin:
        order = json.loads(line)
        seconds = float(order.get("seconds", 10))
        signal.signal(signal.SIGALRM, lambda *_, limit=seconds: give_up(limit))
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            result = carry_out(order)
        except Exception as error:
            result = answer(error=f"the notification library failed ({type(error).__name__})")
        signal.setitimer(signal.ITIMER_REAL, 0)
        tell(result)
    os._exit(0)


if __name__ == "__main__":
    main()
