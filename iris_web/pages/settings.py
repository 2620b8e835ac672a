"""`/settings/`: is it wired up? Platforms, sources, database, loops, notices; the stop control and platform modes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.html import format_html

from iris_web import facts
from iris_web.access import Act, Role, require, role_of
from iris_web.health import cycle_period_seconds
from iris_web.live.fragments import Context, Fragment, Params, register
from iris_web.live.times import duration_text
from iris_web.pages import addresses, health, settings_notices, settings_sources, settings_wiring, words
from iris_web.pages.act_fields import REASON
from iris_web.pages.acts import ActPage, run
from iris_web.pages.shell import render_page
from scaling import clock, operations
from scaling.lyc_settings import LycSettings
from scaling.models import Deployment, Group, Heartbeat, Installation, Lease, Platform, QuotaPool, Slice
from scaling.once import asking_once
from scaling.previews import changes

# A process is silent when it has given no sign of life for so long.
PROCESS_SILENT_SECONDS = 15.0


def view(request: HttpRequest) -> HttpResponse:
    require(request, Act.VIEW)
    with asking_once():
        # The period in force is one of theirs.
        facts.loops()
        return render_page(request, "pages/settings.html", {"configuration": configuration()}, nav="settings")


@dataclass(frozen=True, slots=True)
class PlatformRow:
    """A platform and whether it answers; `code` is a row of the HEALTH looks."""

    platform: Platform
    code: str
    groups: int
    slices: int


def platforms(_params: Params, _role: Role) -> Context:
    """Three queries."""
    live = Slice.objects.filter(state__in=Slice.LIVE)
    groups, slices = _by_platform(Group.objects), _by_platform(live)
    return {
        "platforms": [
            PlatformRow(row, _reachable(row), groups.get(row.pk, 0), slices.get(row.pk, 0)) for row in facts.platforms()
        ]
    }


def _by_platform(rows: Any) -> dict[int, int]:
    return dict(rows.order_by().values_list("platform").annotate(n=Count("pk")))


def _reachable(platform: Platform) -> str:
    if platform.unreachable_since is not None or platform.aborts_in_a_row:
        return "unreachable"
    return "reachable" if platform.listed_at is not None else "unknown"


def control(_params: Params, _role: Role) -> Context:
    return {"installation": facts.installation()}


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """The last sign of life of a process."""

    name: str
    at: datetime
    code: str
    info: str


def loops(_params: Params, _role: Role) -> Context:
    """Loops, who holds the lease, and the processes' signs of life. Four queries."""
    now = clock.now()
    return {
        "loops": health.loops(now),
        "leases": [
            (row, row.expires_at is not None and row.expires_at > now) for row in Lease.objects.order_by("name")
        ],
        "processes": [_process(row, now) for row in settings_wiring.heartbeats()],
    }


def _process(row: Heartbeat, now: datetime) -> ProcessRow:
    quiet = (now - row.at).total_seconds()
    told = ", ".join(f"{key} {value}" for key, value in row.info.items()) if isinstance(row.info, dict) else ""
    return ProcessRow(row.name, row.at, "ok" if quiet < PROCESS_SILENT_SECONDS else "silent", told)


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """The database as it answered just now. How fast, the wiring above tells."""

    vendor: str
    version: str
    size_bytes: int
    backlog: int | None


def database(_params: Params, _role: Role) -> Context:
    """One query."""
    return {"database": _ask_database(), "broker": "Redis" if settings.BROKER_URL else "the database"}


_NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
# Version and size in bytes.
_ABOUT = {
    "sqlite": "sqlite_version(), (SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size())",
    "postgresql": "current_setting('server_version'), pg_database_size(current_database())",
}
_BACKLOG = "(SELECT count(*) FROM django_q_ormq)"


def _ask_database() -> DatabaseFacts:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_ABOUT[connection.vendor]}, {'NULL' if settings.BROKER_URL else _BACKLOG}")
        version, size, backlog = cursor.fetchone()
    return DatabaseFacts(_NAMES[connection.vendor], version, size, backlog)


def configuration() -> list[tuple[str, str, str]]:
    """(what, its value, the variable that sets it) of what an operator asks about."""
    return [
        ("A cycle every", duration_text(cycle_period_seconds()), "IRIS_CYCLE_SECONDS, or the cluster file"),
        ("The lease lasts", duration_text(settings.IRIS_LEASE_TTL), "IRIS_LEASE_TTL"),
        ("A platform call may take", duration_text(settings.IRIS_PLATFORM_TIMEOUT), "IRIS_PLATFORM_TIMEOUT"),
        ("Creates per minute, over all groups", str(settings.IRIS_CREATES_PER_MINUTE), "IRIS_CREATES_PER_MINUTE"),
        ("Prices are in", settings.IRIS_CURRENCY, "IRIS_CURRENCY"),
        ("Cycles are kept", f"{settings.IRIS_KEEP_CYCLES_DAYS:g} d", "IRIS_KEEP_CYCLES_DAYS"),
        ("Demand is told after", duration_text(60 * settings.IRIS_NOTICE_DEMAND_MINUTES), "IRIS_NOTICE_DEMAND_MINUTES"),
        ("Notices link to", settings.IRIS_SITE_URL or "not set: they have no links", "IRIS_SITE_URL"),
        ("The feed is kept", f"{settings.IRIS_KEEP_FEED_DAYS:g} d", "IRIS_KEEP_FEED_DAYS"),
        *_replica_scaler(settings.LYC),
    ]


def _replica_scaler(lyc: LycSettings) -> list[tuple[str, str, str]]:
    """Where it listens and how often it looks; secrets are only said to be there."""
    if not lyc.enabled:
        return [("The Gateway", "none: no deployments are scaled", "API_BASE_URL")]
    prometheus = lyc.prometheus_address + (" (stand-in)" if lyc.prometheus_stand_in else "")
    return [
        ("The Gateway", lyc.gateway_url, "API_BASE_URL"),
        ("Prometheus", prometheus, "LYC_PROMETHEUS_ADDR"),
        ("The window of the rates", lyc.prometheus_window, "LYC_PROMETHEUS_WINDOW"),
        ("A tick of the scalers every", duration_text(lyc.heartbeat_interval_seconds), "LYC_SCALER_HEARTBEAT_INTERVAL"),
        ("A scaler's lease lasts", duration_text(lyc.scaler_ttl_seconds), "LYC_SCALER_ID_TTL"),
        ("This instance scales at most", words.plural(lyc.max_deployments, "deployment"), "LYC_MAX_DEPLOYMENTS"),
        ("Idle to zero after", duration_text(lyc.zero_threshold_seconds), "LYC_ZERO_SCALE_THRESHOLD"),
    ]


register(
    settings_wiring.FRAGMENT,
    settings_sources.FRAGMENT,
    settings_notices.FRAGMENT,
    Fragment("settings.platforms", "partials/settings_platforms.html", platforms, {"platforms", "cycle"}),
    Fragment("settings.control", "partials/settings_control.html", control, {"platforms"}),
    Fragment("settings.loops", "partials/settings_loops.html", loops, {"loops", "cycle"}),
    Fragment("settings.database", "partials/settings_database.html", database, {"cycle"}),
)


# -- acts


def _deployments_go_on(role: Role | None) -> str:
    """What a halt leaves running, and where that is stopped: an admin has one page for all of them."""
    number = Deployment.objects.filter(gone_at=None).count()
    if not number:
        return "It stops no scaling of deployments."
    all_of_them = role is Role.ADMIN
    return format_html(
        'It does not stop deployments: {} {} being scaled. To stop that, <a href="{}">pause {}</a>.',
        words.plural(number, "deployment"),
        "goes on" if number == 1 else "go on",
        addresses.UNPAUSED_DEPLOYMENTS if all_of_them else addresses.DEPLOYMENTS,
        "all or some of them at once" if all_of_them else "each on its page",
    )


def halt(request: HttpRequest) -> HttpResponse:
    def make() -> ActPage:
        found = Installation.objects.first()
        flying = Slice.objects.filter(state__in=("REQUESTING", "BOOTING")).count()
        unsent = Slice.objects.filter(state="REQUESTING", sent_at__isnull=True).count()
        return ActPage(
            act=Act.HALT,
            title="Halt buying and releasing of slices",
            button="Halt buying and releasing of slices",
            back="/settings/",
            done="Halted: no slice is bought or released.",
            undo="/settings/unhalt/",
            perform=lambda actor, given: operations.halt(actor, given["reason"], given["version"]),
            nav="settings",
            subject="Settings",
            effects=(
                f"It stops {words.plural(Group.objects.count(), 'group')} on every platform at once, from now on.",
                f"{words.plural(flying, 'slice')} in flight, {unsent} not sent yet: what was accepted still comes.",
                "What is ready goes on serving, and jobs are still planned and shown.",
                _deployments_go_on(role_of(request.user)),
            ),
            danger=True,
            version=found.version if found else None,
            change=changes.halted(clock.now(), request.user.get_username()),
            at_once=True,
        )

    return run(request, make, Act.HALT)


def unhalt(request: HttpRequest) -> HttpResponse:
    def make() -> ActPage:
        found = Installation.objects.first()
        return ActPage(
            act=Act.HALT,
            title="Resume buying and releasing of slices",
            button="Resume",
            back="/settings/",
            done="Resumed: the next cycle acts again.",
            perform=lambda actor, given: operations.unhalt(actor, given["reason"], given["version"]),
            nav="settings",
            subject="Settings",
            effects=("The next cycle buys and releases again what demand and limits ask for.",),
            version=found.version if found else None,
            change=changes.unhalted,
            serves=True,
        )

    return run(request, make, Act.HALT)


_MODE_EFFECTS = {
    "act": (
        "Plans for it are carried out: slices are bought and released, for real where the platform is real.",
        "It begins with the next cycle.",
    ),
    "observe": (
        "Plans for it are made, shown and recorded as such; nothing is sent any more.",
        "What it has goes on serving; what is in flight still comes.",
    ),
}


def set_mode(request: HttpRequest, pk: int, mode: str) -> HttpResponse:
    def make() -> ActPage:
        platform = Platform.objects.annotate(group_count=Count("groups")).filter(pk=pk).first()
        if platform is None or mode not in _MODE_EFFECTS:
            raise Http404("There is no such platform or mode.")
        name = platform.name
        return ActPage(
            act=Act.SET_PLATFORM_MODE,
            title=f"Switch {name} to {mode}",
            button=f"Switch to {mode}",
            back="/settings/",
            done=f"{name} is in mode {mode}.",
            undo=f"/settings/platforms/{pk}/{'observe' if mode == 'act' else 'act'}/",
            perform=lambda actor, given: operations.set_platform_mode(
                actor, name, mode, given["reason"], given["version"]
            ),
            nav="settings",
            subject="Settings",
            effects=(f"It concerns {words.plural(platform.group_count, 'group')}.", *_MODE_EFFECTS[mode]),
            danger=mode == "act" and not platform.is_simulated,
            version=platform.version,
            change=changes.in_mode(name, mode),
            at_once=mode == "observe",
        )

    return run(request, make, Act.SET_PLATFORM_MODE)


def forget_learned_limit(request: HttpRequest, pk: int) -> HttpResponse:
    def make() -> ActPage:
        pool: Any = QuotaPool.objects.filter(pk=pk).first()
        if pool is None:
            raise Http404(f"There is no quota pool {pk}.")
        subject, back = _pressed_on(pool, request.GET)
        return ActPage(
            act=Act.SET_QUOTA,
            title=f"Forget the learned limit of {pool.name}",
            button="Forget it",
            back=back,
            done=f"The learned limit of {pool.name} is forgotten.",
            perform=lambda actor, given: operations.forget_learned_limit(
                actor, pool.name, given["reason"], given["version"]
            ),
            nav="groups",
            subject=subject,
            effects=(
                f"The platform taught a limit of {pool.learned_limit}; the pool's own, {pool.limit}, counts again.",
                "If the platform still has the lower one, it teaches it again at the next refusal.",
            ),
            fields=(REASON,),
            version=pool.version,
        )

    return run(request, make, Act.SET_QUOTA)


def _pressed_on(pool: Any, asked: Mapping[str, str]) -> tuple[str, str]:
    """(what it is called, address) of the page that leads here: that of a group of the pool, or the pool's own."""
    group = pool.groups.filter(name=asked.get("group", "")).first()
    if group is not None:
        return group.name, addresses.group(group)
    if "admin" in asked:
        return pool.name, f"/admin/scaling/quotapool/{pool.pk}/change/"
    return "Groups", "/groups/"
