"""The Gateway's client: one bulk list and many calls to scale, over one pool, each within its deadline."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

import httpx

from scaling.counting import counted
from scaling.replicas.decision import Outcome
from scaling.replicas.replica import Replica
from scaling.sources.gateway.envelope import Page, open_envelope
from scaling.sources.gateway.errors import GatewayError, GatewayMalformed
from scaling.sources.gateway.exchange import new_client
from scaling.sources.gateway.fields import FieldProblem, shown
from scaling.sources.gateway.listing import Listing, read_replicas
from scaling.sources.gateway.reading import get_json
from scaling.sources.gateway.records import FleetList, ListedDeployment, ScaleAnswer, ScaleCall
from scaling.sources.gateway.scaling_call import post_scale
from scaling.sources.gateway.settings import LIST_PATH, GatewaySettings
from scaling.sources.gateway.worker import LoopThread

MOST_PAGES = 1000


class Gateway:
    """Any thread may call; a process forked from one that has called gets a pool of its own.

    `deadline_seconds` bounds a whole method, and `settings.timeout_seconds` each call in it.
    """

    def __init__(self, settings: GatewaySettings) -> None:
        self._settings = settings
        self._owner = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def fleet(self, deadline_seconds: float) -> FleetList:
        """Every deployment with its replicas; raises GatewayError when the list as a whole could not be read."""
        return self._thread().run(self._fleet(deadline_seconds))

    def scale_all(self, calls: Sequence[ScaleCall], deadline_seconds: float) -> list[ScaleAnswer]:
        """Send every call once, at most `max_concurrent` at a time; the answers are in the order of the calls.

        A call that the deadline leaves no time for is not sent, and counts as refused. Never raises for what the
        Gateway does.
        """
        return self._thread().run(self._scale_all(calls, deadline_seconds)) if calls else []

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        if self._owner == os.getpid():
            self._worker.run(self._client.aclose())
            self._worker.stop()
        self._owner = 0

    def _thread(self) -> LoopThread:
        """The thread of this process: neither threads nor connections are good for anything after a fork."""
        if self._owner != os.getpid():
            self._worker = LoopThread("gateway")
            self._client = new_client(self._settings)
            self._free = asyncio.Semaphore(self._settings.max_concurrent)
            self._owner = os.getpid()
        return self._worker

    async def _fleet(self, deadline_seconds: float) -> FleetList:
        ends_at = _now() + deadline_seconds
        listing = await self._list(ends_at)
        if listing.omitted:
            await self._fill(listing, ends_at)
        return FleetList(tuple(listing.deployments), tuple(listing.problems))

    async def _list(self, ends_at: float) -> Listing:
        """Page after page, until one says of no other."""
        listing, url, read = Listing(), self._settings.url(LIST_PATH), set[str]()
        while True:
            read.add(url)
            body, headers = await get_json(self._client, self._settings, url, self._call_ends_at(ends_at))
            page = _page(body, headers)
            listing.read(page.entries)
            if page.next_link is None:
                _check_whole(page, len(listing.deployments), len(read))
                return listing
            url = _next_url(url, page.next_link)
            if url in read or len(read) >= MOST_PAGES:
                raise GatewayMalformed(f"The Gateway's list has no end: it goes on at {url} after {len(read)} pages.")

    async def _fill(self, listing: Listing, ends_at: float) -> None:
        """Ask for the replicas that the list omits."""
        places = listing.omitted
        answers = await asyncio.gather(*(self._replicas(listing.deployments[place], ends_at) for place in places))
        for place, answer in zip(places, answers, strict=True):
            if isinstance(answer, str):
                listing.problems.append(answer)
            else:
                listing.deployments[place] = replace(listing.deployments[place], replicas=answer)

    async def _replicas(self, deployment: ListedDeployment, ends_at: float) -> tuple[Replica, ...] | str:
        """One deployment's replicas, or the sentence that says why they could not be read."""
        url = self._settings.replicas_url(deployment.id)
        try:
            async with asyncio.timeout_at(ends_at), self._free:
                body, headers = await get_json(self._client, self._settings, url, self._call_ends_at(ends_at))
            page = open_envelope(body, "replicas", "data", linked=_next_of(headers))
            if page.next_link or page.total not in (None, len(page.entries)) or page.pages not in (None, 0, 1):
                raise FieldProblem("", "the answer is not the whole list")
            return read_replicas(page.entries)
        except TimeoutError:
            problem = "no time was left to ask for them"
        except GatewayError as error:
            problem = error.message.rstrip(".")
        except FieldProblem as error:
            problem = f"malformed: {error.inside('replicas')} ({url})"
        return f"The replicas of {deployment.id} could not be read: {problem}."

    async def _scale_all(self, calls: Sequence[ScaleCall], deadline_seconds: float) -> list[ScaleAnswer]:
        ends_at = _now() + deadline_seconds
        return list(await asyncio.gather(*(self._scale(call, ends_at) for call in calls)))

    async def _scale(self, call: ScaleCall, ends_at: float) -> ScaleAnswer:
        async with self._free:
            if _now() >= ends_at:
                return ScaleAnswer(call, Outcome.REFUSED, "No time was left to send the call; it was not sent.", 0.0)
            return await post_scale(self._client, self._settings, call, self._call_ends_at(ends_at))

    def _call_ends_at(self, ends_at: float) -> float:
        """The end of a call that starts now: its own time-out, or the time left, whichever is less."""
        return min(ends_at, _now() + self._settings.timeout_seconds)


def _now() -> float:
    return asyncio.get_running_loop().time()


def _page(body: object, headers: httpx.Headers) -> Page:
    try:
        return open_envelope(body, "deployments", "data", linked=_next_of(headers))
    except FieldProblem as problem:
        raise GatewayMalformed(f"The Gateway's list is malformed: {problem}.") from None


def _check_whole(page: Page, deployments: int, pages: int) -> None:
    if page.total not in (None, deployments):
        raise GatewayMalformed(
            f"The Gateway's list is not whole: it says {counted(page.total, 'deployment')}, has {deployments}."
        )
    if page.pages and page.pages != pages:
        raise GatewayMalformed(
            f"The Gateway's list is not whole: it says {page.pages} pages, and after {pages} no address for another."
        )


def _next_of(headers: httpx.Headers) -> str | None:
    """The next part by the Link header (RFC 8288)."""
    links = httpx.Response(200, headers={"link": headers.get("link", "")}).links
    return links.get("next", {}).get("url")


def _next_url(url: str, link: str) -> str:
    """The address of the next part; another host is refused, for it would be sent the token."""
    here = httpx.URL(url)
    try:
        there = here.join(link)
        stays = (there.scheme, there.host, there.port) == (here.scheme, here.host, here.port)
    except (httpx.InvalidURL, UnicodeError):
        raise GatewayMalformed(f"The Gateway's list goes on at {shown(link)}, which is no address.") from None
    if not stays:
        raise GatewayMalformed(f"The Gateway's list goes on at another address, {there}, which is not followed.")
    return str(there)
