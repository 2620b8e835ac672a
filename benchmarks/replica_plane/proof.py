"""What must hold of the calls that the Gateway got and of what the scalers remembered, whoever was killed meanwhile.

A *double call* is one that buys what had been bought: at the moment the Gateway got it, more replicas were there (by
the Gateway's own log) than the decision behind the call counted as healthy or coming. As `add` is what is desired less
those two, that is exactly when a repeated call takes a deployment above what was desired.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from benchmarks.replica_plane.fleet import LoggedCall

CARRIED_OUT = ("200", "slow", "lost")


@dataclass(frozen=True, slots=True)
class Intent:
    """A call as it was written down before it was sent: what was counted then, what was to be done."""

    id: int
    at: float
    counted: int
    after: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sent:
    """A call in the Gateway's log, with its intent and the replicas that were there when it came."""

    call: LoggedCall
    intent: Intent | None
    there: int


def read_intents() -> dict[str, list[Intent]]:
    """Every intent by its deployment, in order."""
    from scaling.models import Action

    found: dict[str, list[Intent]] = defaultdict(list)
    for action in Action.objects.filter(kind="scale_replicas").order_by("pk"):
        before = action.before or {}
        counted = before.get("healthy", 0) + before.get("warming", 0)
        name = action.target.removeprefix("deployment ")
        found[name].append(Intent(action.pk, action.at.timestamp(), counted, action.after or {}))
    return found


def match(
    calls: Sequence[LoggedCall], first: Mapping[str, Sequence[str]], intents: Mapping[str, Sequence[Intent]]
) -> dict[str, list[Sent]]:
    """Replay the log from the replicas that were there at first; each call with the first intent left that is like it.

    An intent that no call is like was written down by a process that was killed before it sent.
    """
    there = {name: set(ids) for name, ids in first.items()}
    left = {name: list(ones) for name, ones in intents.items()}
    sent: dict[str, list[Sent]] = defaultdict(list)
    for call in calls:
        after, mine = {"add": call.add, "stop": list(call.stop)}, left.get(call.deployment, [])
        place = next((at for at, one in enumerate(mine) if one.after == after and one.at <= call.at), None)
        intent = None if place is None else mine[place]
        if place is not None:
            del mine[: place + 1]
        alive = there.setdefault(call.deployment, set())
        sent[call.deployment].append(Sent(call, intent, len(alive)))
        if call.status in CARRIED_OUT:
            alive |= set(call.started)
            alive -= set(call.stop)
    return sent


def double_calls(sent: Mapping[str, Sequence[Sent]]) -> Iterator[str]:
    """Calls that bought again, and calls that nobody wrote down first."""
    for name, ones in sent.items():
        for one in ones:
            if one.intent is None:
                yield f"{name}: call {one.call.number} was sent without being written down first, or twice"
            elif one.call.add and one.there > one.intent.counted:
                yield (
                    f"{name}: call {one.call.number} adds {one.call.add} to {one.there} replicas, "
                    f"of which its decision knew {one.intent.counted}"
                )


def broken_cooldowns(sent: Mapping[str, Sequence[Sent]], cooldowns: Mapping[str, float]) -> Iterator[str]:
    """Decisions to call that came sooner after another than the deployment's cooldown."""
    for name, ones in sent.items():
        times = [one.intent.at for one in ones if one.intent is not None and one.call.status in CARRIED_OUT]
        for earlier, later in pairwise(times):
            if later - earlier < cooldowns[name]:
                yield f"{name}: {later - earlier:.2f} s between two changes, with a cooldown of {cooldowns[name]:g} s"


def forgotten(before: Mapping[str, Any], after: Mapping[str, Any], at: float, window_seconds: float) -> Iterator[str]:
    """What a deployment's memory lacks, at `at`, of an earlier one: its cooldown and the wishes in its window."""
    last = before["last_scale_at"]
    if last is not None and (after["last_scale_at"] or 0) < last:
        yield f"last_scale_at was {last}, is {after['last_scale_at']}"
    window = after["window"] or []
    for entry_at, desired in before["window"] or []:
        expired = entry_at <= at - window_seconds
        if not expired and not any(later >= entry_at and wish >= desired for later, wish in window):
            yield f"the window lacks {desired} replicas wished {at - entry_at:.1f} s before"
