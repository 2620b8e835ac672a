"""What surrounds every page: the pages one can go to, and the banners nobody may overlook."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from iris_web import facts
from iris_web.access import Role
from iris_web.health import cycle_period_seconds
from iris_web.live.fragments import Context, Fragment, Params, register
from iris_web.pages import addresses
from scaling import clock
from scaling.models import Cycle, Installation, Platform
from scaling.open_markers import count_open

THEMES = (("light", "Light", "sun"), ("dark", "Dark", "moon"), ("system", "System", "system"))
# What groups and jobs show is stale when this many periods have passed without a cycle.
STALE_AFTER_PERIODS = 3
STALE_AFTER_AT_LEAST_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class NavItem:
    key: str
    label: str
    icon: str
    shortcut: str

    @property
    def url(self) -> str:
        return "/" if self.key == "overview" else f"/{self.key}/"


PAGES = (
    NavItem("overview", "Overview", "overview", "o"),
    NavItem("groups", "Groups", "groups", "g"),
    NavItem("deployments", "Deployments", "deployments", "p"),
    NavItem("demand", "Demand", "demand", "d"),
    NavItem("stockouts", "Stock-outs", "stockouts", "s"),
    NavItem("actions", "Actions", "actions", "a"),
    NavItem("settings", "Settings", "settings", "e"),
)


@dataclass(frozen=True, slots=True)
class Banner:
    """One line over the page. `tone` bad and warn are strong; calm ones say what kind of cluster this is.

    `also`: a second address and its words. `moment`: since when. `show_at`: hidden until then, so that silence itself
    is noticed in an open page.
    """

    key: str
    tone: str
    icon: str
    title: str
    text: str = ""
    url: str = ""
    link: str = ""
    moment: datetime | None = None
    show_at: datetime | None = None
    also: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ClusterState:
    """The facts behind the banners."""

    now: datetime
    installation: Installation | None
    platforms: list[Platform]
    cycle: Cycle | None
    period_seconds: float

    @property
    def stale_at(self) -> datetime | None:
        """When what the last cycle found stops being news."""
        return None if self.cycle is None else self.cycle.started_at + timedelta(seconds=self.stale_after_seconds)

    @property
    def stale_after_seconds(self) -> float:
        return stale_after_seconds(self.period_seconds)


def stale_after_seconds(period_seconds: float) -> float:
    """How old a cycle may be before what it found is no news any more."""
    return max(STALE_AFTER_AT_LEAST_SECONDS, STALE_AFTER_PERIODS * period_seconds)


def read_state() -> ClusterState:
    """Four queries: the installation, the platforms, the last cycle, the period in force."""
    return ClusterState(
        clock.now(),
        facts.installation(),
        facts.platforms(),
        facts.last_cycle(),
        cycle_period_seconds(),
    )


def banners(state: ClusterState, role: Role | None = None) -> list[Banner]:
    """What is wrong first, then what kind of cluster this is."""
    return [*_halt(state, role), *_unreachable(state), *_cycle(state), *_kind(state), *_observed(state)]


# Where someone may stop what a halt leaves running; a viewer can't.
_PAUSES: dict[Role | None, tuple[str, str]] = {
    Role.ADMIN: (addresses.UNPAUSED_DEPLOYMENTS, "Pause deployments"),
    Role.OPERATOR: (addresses.DEPLOYMENTS, "Pause deployments"),
}


def _halt(state: ClusterState, role: Role | None) -> Iterator[Banner]:
    found = state.installation
    if found is not None and found.halted_since is not None:
        by = f"by {found.halted_by}" + (f": {found.halted_reason}" if found.halted_reason else "")
        title, text = "Buying and releasing of slices is halted", f"{by.rstrip('.')}. Deployments go on being scaled."
        also, since = _PAUSES.get(role), found.halted_since
        yield Banner("halt", "bad", "stop", title, text, "/settings/#halt", "Control", since, also=also)


def _unreachable(state: ClusterState) -> Iterator[Banner]:
    for platform in state.platforms:
        if platform.unreachable_since is not None:
            yield Banner(
                f"platform-{platform.pk}", "bad", "plug", f"Platform {platform.name} cannot be listed",
                platform.last_error, "/settings/#platforms", "Details", platform.unreachable_since,
            )  # fmt: skip


def _cycle(state: ClusterState) -> Iterator[Banner]:
    cycle, stale_at = state.cycle, state.stale_at
    if cycle is None or stale_at is None:
        return
    if cycle.status == Cycle.Status.ABORTED and state.now < stale_at:
        reason = cycle.reason or "No reason was recorded."
        yield Banner("cycle", "warn", "stop", "The last cycle was aborted: nothing was bought or released", reason,
                     "/settings/#loops", "Loops")  # fmt: skip
    show_at = stale_at if state.now < stale_at else None
    yield Banner(
        "stale", "warn", "clock", "Stale: no cycle has run", "What groups and jobs show here is that old.",
        "/settings/#loops", "Loops", cycle.started_at, show_at,
    )  # fmt: skip


def _kind(state: ClusterState) -> Iterator[Banner]:
    pretended = [row.name for row in state.platforms if row.is_simulated]
    if state.installation is not None and state.installation.demonstration:
        text = "A small simulated cluster with made-up jobs. Nothing real is bought."
        yield Banner("kind", "calm", "info", "Demonstration", text)
    elif pretended:
        text = f"Slices of {', '.join(pretended)} come from the simulated cloud. Nothing real is bought."
        yield Banner("kind", "calm", "info", "Simulated", text)


def _observed(state: ClusterState) -> Iterator[Banner]:
    watched = [row.name for row in state.platforms if row.mode == Platform.Mode.OBSERVE]
    if watched:
        text = f"Plans for {', '.join(watched)} are made and shown. Nothing is sent."
        yield Banner("observe", "calm", "eye", "Observe mode", text, "/settings/#platforms", "Platforms")


def _banner_context(_params: Params, role: Role) -> Context:
    return {"banners": banners(read_state(), role)}


def _stockout_count(_params: Params, _role: Role) -> Context:
    """What nobody has seen to; its title has both numbers of the overview and the page of stock-outs. One query."""
    return {"counts": count_open()}


register(
    Fragment("shell.banners", "partials/banners.html", _banner_context, {"platforms", "cycle"}),
    Fragment("shell.stockout_count", "partials/stockout_count.html", _stockout_count, {"markers", "cycle"}),
)


@dataclass(frozen=True, slots=True)
class Shell:
    pages: tuple[NavItem, ...] = PAGES
    themes: tuple[tuple[str, str, str], ...] = THEMES


def render_page(
    request: HttpRequest, template: str, context: Mapping[str, Any], *, nav: str, status: int = 200
) -> HttpResponse:
    """Render a page inside its shell (four queries: banners and the count of open markers)."""
    return render(request, template, {**context, "shell": Shell(), "nav": nav}, status=status)
