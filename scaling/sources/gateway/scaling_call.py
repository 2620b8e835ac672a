"""One POST /scale and what its end means: refused is not done, a time-out may have been done."""

import asyncio
from typing import Any

import httpx

from scaling.replicas.decision import Outcome
from scaling.sources.gateway.exchange import BodyTooLarge, Progress, Reply, exchange
from scaling.sources.gateway.reading import refusal, why
from scaling.sources.gateway.records import ScaleAnswer, ScaleCall
from scaling.sources.gateway.settings import SCALE_PATH, GatewaySettings

LARGEST_ANSWER_BYTES = 2**20
UPSTREAM_TIMED_OUT = 504


def body_of(call: ScaleCall) -> dict[str, Any]:
    """The JSON that is sent."""
    return {
        "deployment_id": call.deployment_id,
        "replicas_to_add": call.replicas_to_add,
        "replica_ids_to_stop": list(call.replica_ids_to_stop),
    }


async def post_scale(
    client: httpx.AsyncClient, settings: GatewaySettings, call: ScaleCall, deadline: float
) -> ScaleAnswer:
    """Send it once, never again: asking twice could buy twice."""
    clock = asyncio.get_running_loop()
    began, progress = clock.time(), Progress()
    url = settings.url(SCALE_PATH)
    try:
        request = client.build_request("POST", url, json=body_of(call))
        reply = await exchange(client, request, deadline, LARGEST_ANSWER_BYTES, progress)
        outcome, message = _meaning(reply, url)
    except (TimeoutError, httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, BodyTooLarge) as error:
        outcome, message = _meaning_of_none(error, progress, clock.time() - began)
    return ScaleAnswer(call, outcome, message, clock.time() - began)


def _meaning(reply: Reply, url: str) -> tuple[Outcome, str]:
    """Every status but a success is a refusal, except a proxy's word that the Gateway behind it timed out."""
    if httpx.codes.is_success(reply.status):
        return Outcome.OK, ""
    if reply.status == UPSTREAM_TIMED_OUT:
        return (
            Outcome.TIMEOUT,
            "A proxy gave up waiting for the Gateway (HTTP 504): the call may have been carried out.",
        )
    return Outcome.REFUSED, f"{refusal(reply, url)}."


def _meaning_of_none(error: Exception, progress: Progress, seconds: float) -> tuple[Outcome, str]:
    """No whole answer: the status decides if there was one, else whether anything had been sent."""
    timed_out = isinstance(error, TimeoutError | httpx.TimeoutException)
    what = f"no whole answer within {seconds:.3g} s" if timed_out else why(error)
    if progress.status is not None:
        return _meaning_of_half(progress.status, what)
    if progress.sent:
        return Outcome.TIMEOUT, f"The Gateway did not answer: {what}; the call may have been carried out."
    return Outcome.REFUSED, f"The Gateway cannot be reached: {what}; the call was not sent."


def _meaning_of_half(status: int, what: str) -> tuple[Outcome, str]:
    if httpx.codes.is_success(status):
        return Outcome.OK, f"Accepted (HTTP {status}), though the rest of the answer was lost: {what}."
    if status == UPSTREAM_TIMED_OUT:
        return (
            Outcome.TIMEOUT,
            "A proxy gave up waiting for the Gateway (HTTP 504): the call may have been carried out.",
        )
    return Outcome.REFUSED, f"The Gateway answered HTTP {status}, and the reason was lost: {what}."
