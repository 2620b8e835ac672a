"""Reading JSON from the Gateway: every way in which that fails becomes one GatewayError with its sentence."""

import json
from contextlib import suppress
from typing import Any, NoReturn

import httpx
import orjson

from scaling.sources.gateway.errors import GatewayMalformed, GatewayRefused, GatewayTimedOut, GatewayUnreachable
from scaling.sources.gateway.exchange import BodyTooLarge, Progress, Reply, exchange
from scaling.sources.gateway.settings import ADDRESS_VARIABLE, TOKEN_VARIABLE, GatewaySettings

WORDS_SHOWN = 200
UNAUTHORIZED = {401: "does not accept the token", 403: "does not allow this token to do that"}


async def get_json(
    client: httpx.AsyncClient, settings: GatewaySettings, url: str, deadline: float
) -> tuple[Any, httpx.Headers]:
    """The parsed body and the headers of a whole answer with status 200.

    No sentence has a number that wavers: the same trouble is the same sentence in the next round, and no news.
    """
    progress = Progress()
    try:
        request = client.build_request("GET", url)
        reply = await exchange(client, request, deadline, settings.max_body_bytes, progress)
    except (TimeoutError, httpx.TimeoutException):
        raise GatewayTimedOut(f"The Gateway gave no whole answer in time ({url}).") from None
    except BodyTooLarge:
        raise GatewayMalformed(
            f"The Gateway's answer is larger than {settings.max_body_bytes:,} bytes ({url})."
        ) from None
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        _raise_broken(error, progress, url)
    if reply.status != httpx.codes.OK:
        raise GatewayRefused(f"{refusal(reply, url)} ({url}).", reply.status)
    return _parsed(reply, url), reply.headers


def _raise_broken(error: Exception, progress: Progress, url: str) -> NoReturn:
    """A connection that broke off: within the answer that is half an answer, before it nobody was reached."""
    if progress.status is not None:
        raise GatewayMalformed(f"The Gateway's answer broke off: {why(error)} ({url}).") from None
    raise GatewayUnreachable(f"The Gateway cannot be reached: {why(error)} ({url}).") from None


def why(error: Exception) -> str:
    """What went wrong, for a person: httpx leaves some of its messages empty."""
    return str(error).rstrip(".") or type(error).__name__


def refusal(reply: Reply, url: str) -> str:
    """What an answer with another status than asked for means, as the beginning of a sentence."""
    if reply.status in UNAUTHORIZED:
        return f"The Gateway {UNAUTHORIZED[reply.status]} (HTTP {reply.status}): check {TOKEN_VARIABLE}"
    if httpx.codes.is_redirect(reply.status):
        where = httpx.URL(url).join(reply.headers.get("location", "")) if "location" in reply.headers else "elsewhere"
        return f"The Gateway redirects to {where} (HTTP {reply.status}): set {ADDRESS_VARIABLE} to where it is"
    words = said(reply.body)
    return f"The Gateway answered HTTP {reply.status}" + (f": {words}" if words else "")


def said(body: bytes) -> str:
    """What an error's body says, shortened: the message of common JSON shapes, or its text on one line."""
    text = body[: 16 * WORDS_SHOWN].decode(errors="replace")
    try:
        parsed = json.loads(body) if len(body) <= 16 * WORDS_SHOWN else None
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, dict):
        told = [parsed[name] for name in ("detail", "message", "error", "title") if isinstance(parsed.get(name), str)]
        text = told[0] if told else text
    words = " ".join("".join(c if c.isprintable() else " " for c in text).split()).rstrip(".")
    return words if len(words) <= WORDS_SHOWN else words[: WORDS_SHOWN - 3] + "..."


def _parsed(reply: Reply, url: str) -> Any:
    with suppress(ValueError):
        return orjson.loads(reply.body)
    # The standard library knows the words for what is wrong.
    try:
        return json.loads(reply.body, parse_constant=_no_number)
    except RecursionError:
        raise GatewayMalformed(f"The Gateway's answer is nested too deeply ({url}).") from None
    except ValueError as error:
        raise GatewayMalformed(
            f"The Gateway's answer is no whole JSON: {error}, in {len(reply.body):,} bytes ({url})."
        ) from None


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")
