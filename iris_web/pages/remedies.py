"""What would open a group that fits a job but may not grow: a sentence for every outcome, and where that is done."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlencode

from django.utils.html import format_html

from iris_web.pages import addresses
from iris_web.pages.openings import Opening
from iris_web.pages.tiers import Marks, Shut, tier_wait
from iris_web.pages.words import plural


@dataclass(frozen=True, slots=True)
class Advice:
    """What would open a group to the job: a sentence, and where that is done."""

    text: str
    url: str = ""
    link: str = ""
    act: str = ""


class GroupRow(NamedTuple):
    """What is read of every group: what changes its record, and how it stands; `shut` is what closes its tier."""

    pk: int
    name: str
    version: int
    updated_at: datetime
    max_slices: int
    pool: str | None
    pool_id: int | None
    tier: int | None
    outcome: str | None
    detail: str | None
    stockout_until: datetime | None
    backoff_expires_at: datetime | None
    opening: Opening | None = None
    shut: tuple[Shut, ...] = ()


_Advise = Callable[[GroupRow, Marks], Advice]


def _clear(kind: str, text: str) -> _Advise:
    def advise(row: GroupRow, markers: Marks) -> Advice:
        mark = markers.get((row.name, kind))
        if mark is None:
            return Advice(text)
        return Advice(text, f"/stockouts/{mark.pk}/clear/", "Clear and retry now", "clear_marker")

    return advise


def _quota(row: GroupRow, markers: Marks) -> Advice:
    if (row.name, "quota") in markers:
        return _clear("quota", "The platform's own quota is used up: ask for more there, or wait.")(row, markers)
    if row.pool is None:
        return Advice("Its quota is used up.")
    room, wait = row.opening, "or wait until slices of the pool go."
    if room is None or room.limit is None or room.limit_now is None:
        text = f"Raise the limit of quota pool {row.pool}, {wait}"
    elif room.limit <= room.limit_now:
        # Slices have gone since the cycle that found it exceeded.
        text = f"Raise the limit of quota pool {row.pool} (now {room.limit_now:,}), {wait}"
    elif room.learned:
        told = f"The platform told that quota pool {row.pool} may have {room.limit_now:,}"
        text = f"{told}: ask there for at least {room.limit:,}, {wait}"
    else:
        now = f"now {room.limit_now:,} with {room.left:,} left, one slice takes {room.cost:,}"
        text = f"Raise the limit of quota pool {row.pool} to at least {room.limit:,} ({now}), {wait}"
    return Advice(text, f"/admin/scaling/quotapool/{row.pool_id}/change/", "Edit the pool", "set_quota")


def _capacity(row: GroupRow, _markers: Marks) -> Advice:
    least = f" to at least {row.opening.slices:,}" if row.opening and row.opening.slices > row.max_slices else ""
    text = f"Raise its max{least} (now {plural(row.max_slices, 'slice')}), or wait until slices of it fall idle."
    return Advice(text, f"{addresses.group(row.name)}limits/", "Edit limits", "set_limits")


def _at(path: str, text: str, link: str, act: str) -> _Advise:
    return lambda row, _markers: Advice(text, f"{addresses.group(row.name)}{path}", link, act)


REMEDIES: dict[str, _Advise] = {
    "AVAILABLE": lambda _row, _markers: Advice("May grow: the next cycle buys what demand needs."),
    "CAPACITY_EXCEEDED": _capacity,
    "QUOTA_EXCEEDED": _quota,
    "STOCKOUT": _clear("stockout", "Wait until the stock-out ends; then one slice is tried."),
    "BACKOFF": _clear("backoff", "Wait: it is tried again by itself when the back-off ends."),
    "CREATE_REFUSED": _clear("permanent", "Mend what the platform names, then clear it or edit the group."),
    "PROBING": lambda _row, _markers: Advice("Wait for its probe: once that slice is ready, it opens."),
    "TIER_BLOCKED": lambda row, _markers: Advice(
        format_html("{} It opens with that tier.", tier_wait(row.tier, row.pool, row.detail, row.name, row.shut)),
        f"/groups/?{urlencode({'pool': row.pool or ''})}", "Groups of the pool", "view",
    ),
    "PAUSED": _at("resume/", "Resume the group.", "Resume", "pause"),
    "HALTED": lambda _row, _markers: Advice(
        "Resume buying and releasing of slices.", "/settings/unhalt/", "Resume buying and releasing", "halt"
    ),
    "PAUSE_OVER": lambda _row, _markers: Advice("Its pause is over: the next cycle looks at it again."),
    "DRAINING": _at("undrain/", "End its drain.", "Undrain", "drain"),
    "PLATFORM_UNREACHABLE": lambda _row, _markers: Advice(
        "Wait until its platform answers.", "/settings/#platforms", "Platforms", "view"
    ),
}  # fmt: skip
