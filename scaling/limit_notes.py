"""What is certain to follow from a new limit, beside it in every review: what is held, what is left, what is kept."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scaling.models import Group, Slice
from scaling.operations.written import limits_of
from scaling.pool_room import PoolRoom, room_in

KEPT = "nothing new is bought. No busy slice is released for it."


def of_group(group: Group, read: Mapping[str, Any]) -> dict[str, str]:
    """By field what follows from an edit of a group's limits, as read. Two queries."""
    if not {"max_slices", "min_slices", "quota_pool"} & read.keys():
        return {}
    held = group.slices.filter(state__in=Slice.LIVE).count()
    pool = read.get("quota_pool", limits_of(group)["quota_pool"])
    grows = any(read.get(name, 0) > held for name in ("min_slices", "max_slices"))
    room = room_in(pool, group) if grows or "quota_pool" in read else None
    left = replace(room, left=max(room.left - held * room.cost, 0)) if room and "quota_pool" in read else room
    notes = {name: _of_slices(name, read[name], held, left) for name in ("max_slices", "min_slices") if name in read}
    return {**notes, "quota_pool": _of_pool(held, room)} if "quota_pool" in read else notes


def of_pool(held: int, read: Mapping[str, Any]) -> dict[str, str]:
    """By field what follows from an edit of a pool that holds so many devices."""
    if "limit" not in read:
        return {}
    limit, holds = read["limit"], f"Its groups hold {_devices(held)}"
    if limit is None:
        return {"limit": f"{holds}: nothing limits them here any more."}
    if limit <= held:
        return {"limit": f"{holds}: {KEPT}"}
    return {"limit": f"{holds}: up to {limit - held:,} more."}


def _of_slices(name: str, value: int, held: int, room: PoolRoom | None) -> str:
    holds, more = f"It holds {held:,} slice{'' if held == 1 else 's'}", value - held
    if more <= 0:
        return f"{holds}: {KEPT}" if name == "max_slices" else ""
    if room is not None and room.slices < more:
        can = f"up to {room.slices:,} more" if room.slices else "no more"
        return f"{holds}: {can} for now, not {more:,}, because {room}."
    if name == "max_slices":
        return f"{holds}: up to {more:,} more slice{'' if more == 1 else 's'}."
    return f"{holds}: up to {more:,} more are bought to reach it."


def _of_pool(held: int, room: PoolRoom | None) -> str:
    """What a group brings with it into another pool; `room` is what is left there before it comes."""
    if room is None or not held:
        return ""
    takes = f"What it holds takes {held * room.cost:,} of the {_devices(room.left)} left there"
    return f"{takes}." if held * room.cost < room.left else f"{takes}: {KEPT}"


def _devices(count: int) -> str:
    return f"{count:,} device{'' if count == 1 else 's'}"
