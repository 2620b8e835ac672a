"""What would open a group that fits a job but may not grow: a sentence for every outcome, and where that is done."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlencode

from iris_web.pages import addresses


@dataclass(frozen=True, slots=True)
class Advice:
    """What would open a group to the job: a sentence, and where that is done."""

    text: str
    url: str = ""
    link: str = ""
    act: str = ""


class GroupRow(NamedTuple):
    """What is read of every group: what changes its record, and how it stands."""

    pk: int
    name: str
    version: int
    updated_at: datetime
    max_slices: int
    pool: str | None
    pool_id: int | None
    pool_limit: int | None
    tier: int | None
    outcome: str | None
    detail: str | None
    stockout_until: datetime | None
    backoff_expires_at: datetime | None


_Advise = Callable[[GroupRow, Mapping[tuple[str, str], int]], Advice]


def _clear(kind: str, text: str) -> _Advise:
    def advise(row: GroupRow, markers: Mapping[tuple[str, str], int]) -> Advice:
        pk = markers.get((row.name, kind))
        return Advice(text, f"/stockouts/{pk}/clear/", "Clear and retry now", "clear_marker") if pk else Advice(text)

    return advise


def _quota(row: GroupRow, markers: Mapping[tuple[str, str], int]) -> Advice:
    if (row.name, "quota") in markers:
        return _clear("quota", "The platform's own quota is used up: ask for more there, or wait.")(row, markers)
    if row.pool is None:
        return Advice("Its quota is used up.")
    text = f"Raise the limit of quota pool {row.pool} (now {row.pool_limit}), or wait until slices of the pool go."
    return Advice(text, f"/admin/scaling/quotapool/{row.pool_id}/change/", "Edit the pool", "set_quota")


def _at(path: str, text: str, link: str, act: str) -> _Advise:
    return lambda row, _markers: Advice(text, f"{addresses.group(row.name)}{path}", link, act)


REMEDIES: dict[str, _Advise] = {
    "AVAILABLE": lambda _row, _markers: Advice("May grow: the next cycle buys what demand needs."),
    "CAPACITY_EXCEEDED": lambda row, _markers: Advice(
        f"Raise its max (now {row.max_slices} slices), or wait until slices of it fall idle.",
        f"{addresses.group(row.name)}limits/", "Edit limits", "set_limits",
    ),
    "QUOTA_EXCEEDED": _quota,
    "STOCKOUT": _clear("stockout", "Wait until the stock-out ends; then one slice is tried."),
    "BACKOFF": _clear("backoff", "Wait: it is tried again by itself when the back-off ends."),
    "CREATE_REFUSED": _clear("permanent", "Mend what the platform names, then clear it or edit the group."),
    "PROBING": lambda _row, _markers: Advice("Wait for its probe: once that slice is ready, it opens."),
    "TIER_BLOCKED": lambda row, _markers: Advice(
        f"{tier_wait(row.tier, row.pool, row.detail)} It opens with that tier.",
        f"/groups/?{urlencode({'pool': row.pool or ''})}", "Groups of the pool", "view",
    ),
    "PAUSED": _at("resume/", "Resume the group.", "Resume", "pause"),
    "HALTED": lambda _row, _markers: Advice(
        "Resume all buying and releasing.", "/settings/unhalt/", "Resume everything", "halt"
    ),
    "PAUSE_OVER": lambda _row, _markers: Advice("Its pause is over: the next cycle looks at it again."),
    "DRAINING": _at("undrain/", "End its drain.", "Undrain", "drain"),
    "PLATFORM_UNREACHABLE": lambda _row, _markers: Advice(
        "Wait until its platform answers.", "/settings/#platforms", "Platforms", "view"
    ),
}  # fmt: skip


_CLOSED = re.compile(r"tier (\S+) of pool (.+) is closed(.*)")


def tier_wait(tier: int | None, pool: str | None, detail: str | None) -> str:
    """Which tier waits for which, out of the planner's detail of a group that is TIER_BLOCKED."""
    found = _CLOSED.fullmatch(detail or "")
    if found is None or tier is None:
        return f"Its tier waits for a lower one of quota pool {pool or '?'}."
    lowest, _pool, where = found.groups()
    if lowest == str(tier):
        return f"Tier {tier} of pool {pool} is closed by another group of it{where}."
    return f"Tier {tier} of pool {pool} waits for tier {lowest}, which is closed{where}."
