"""How a group stands, as its page tells it: its state with what outlasts it, the orders in force, and every check."""

from dataclasses import replace

from iris_web.access import Role
from iris_web.live.fragments import Context, Params
from iris_web.pages import families, halts
from iris_web.pages.group_checks import CheckRow, check_rows
from iris_web.pages.lasting import behind, blocks_of
from iris_web.pages.openings import sharers
from iris_web.pages.tiers import open_marks, shutting, tier_wait
from scaling import clock
from scaling.autoscaler.waiting import Waiting
from scaling.models import Group, GroupStatus, Installation
from scaling.operations import is_paused
from scaling.previews.halt_words import HALT_WORDS


def get_group(params: Params) -> Group:
    """The group with its evaluation, platform and pool. One query; raises Group.DoesNotExist."""
    return Group.objects.select_related("status", "platform", "quota_pool").get(name=params["name"])


def status_of(group: Group) -> GroupStatus | None:
    return getattr(group, "status", None)


def head(params: Params, _role: Role) -> Context:
    """Name, state and the operators' orders in force; the halt of everything is one. Two queries."""
    group, now = get_group(params), clock.now()
    status, paused = status_of(group), is_paused(group, now)
    installation = Installation.objects.filter(halted_since__isnull=False).first()
    blocks = blocks_of(status.checks) if status else []
    return {
        "group": group,
        "outcome": halts.shown(status.outcome, paused, installation is not None) if status else "",
        "until": blocks[0].until if blocks else None,
        "behind": behind(blocks, group.allocation_tier, now),
        "halt": installation,
        "family": families.label(group.device_type, families.family(group.device_type, group.device_variant)),
        "paused": paused,
        "waits": waits_for_a_cycle(group, status),
    }


def waits_for_a_cycle(group: Group, status: GroupStatus | None) -> bool:
    """Whether someone ordered or edited it after the evaluation that is shown: the next cycle sees that first."""
    return status is not None and group.updated_at > status.at


def chain(params: Params, _role: Role) -> Context:
    """Every check with its verdict, the first that blocks marked, and the jobs that it keeps waiting."""
    group = get_group(params)
    status = status_of(group)
    waits = waits_for_a_cycle(group, status)
    outcome = status.outcome if status else ""
    halted = outcome == halts.PAUSED and halts.is_halted()
    blocked = outcome not in ("", "AVAILABLE")
    return {
        "group": group,
        "status": status,
        "outcome": outcome,
        "checks": [_with_tier(row, group) for row in check_rows(status)],
        "waits": waits,
        "waiting": _waiting(status) if blocked else None,
        "halt_words": HALT_WORDS if halted else "",
    }


def _waiting(status: GroupStatus | None) -> Waiting | None:
    """Who waits for it, by the last cycle; None for nobody."""
    if status is None or not status.waiting_jobs:
        return None
    return Waiting(status.waiting_jobs, status.waiting_tasks, status.waiting_alone)


def _with_tier(row: CheckRow, group: Group) -> CheckRow:
    """A tier that is closed says which groups close it, and until when. Two queries, none for any other check."""
    if row.outcome != "TIER_BLOCKED" or row.verdict == "passed":
        return row
    pool, tier = group.quota_pool, group.allocation_tier
    shut = shutting(group.name, tier, sharers([group.quota_pool_id]), open_marks(), clock.now())
    return replace(row, detail=tier_wait(tier, pool.name if pool else None, row.detail, group.name, shut))
