"""Two plans of one picture of the cluster, compared: what the second does that the first does not."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from scaling.autoscaler.models import ActionKind, CycleResult, CycleStatus, Mode, PendingHint
from scaling.previews.halt_words import beside


@dataclass(frozen=True, slots=True)
class GroupEffect:
    """A group that the next cycle treats otherwise: its outcome, the slices it asks for, and the tasks given to it.

    `observed`: its platform is only observed, so that nothing of it is sent.
    """

    name: str
    outcome_before: str
    outcome_after: str
    asks_before: int
    asks_after: int
    tasks_before: int
    tasks_after: int
    observed: bool = False
    halted_before: bool = False
    halted_after: bool = False

    @property
    def asks_more(self) -> int:
        """The slices it asks for beyond those it would have; 0 where it asks for fewer."""
        return max(0, self.asks_after - self.asks_before)

    @property
    def asks_fewer(self) -> int:
        return max(0, self.asks_before - self.asks_after)


@dataclass(frozen=True, slots=True)
class JobEffect:
    """A job that is helped or held up. `reason` is its hint in the worse of both plans, `code` in the other one."""

    key: str
    reason: str
    code: str

    @property
    def name(self) -> str:
        return self.key.partition(":")[2]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a change does to the next cycle, by name. `stopped` says why that cycle does nothing at all.

    `unblocked` jobs get room or slices that they would not get; `held_up` jobs lose it. `released` slices leave in it,
    `kept` ones stay that would leave, `cancelled` requests are not sent.
    """

    stopped: str = ""
    groups: tuple[GroupEffect, ...] = ()
    unblocked: tuple[JobEffect, ...] = ()
    held_up: tuple[JobEffect, ...] = ()
    released: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    cancelled: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.groups or self.unblocked or self.held_up or self.released or self.kept or self.cancelled)

    @property
    def scope(self) -> tuple[str, ...]:
        """What it takes away or spends, to be compared when the act is sent: `<name>`, or `<group>=+<slices>`."""
        bought = (f"{quote(one.name, safe='')}=+{one.asks_more}" for one in self.groups if one.asks_more)
        taken = [*self.released, *self.cancelled, *(one.key for one in self.held_up)]
        return (*bought, *(quote(name, safe=":") for name in taken))

    @property
    def losses(self) -> tuple[str, ...]:
        """The slices of `scope` that it releases: all that an act which takes back or serves is held to."""
        return tuple(quote(name, safe=":") for name in self.released)


def compare(before: CycleResult, after: CycleResult) -> Preview:
    """What the plan `after` does that the plan `before` does not.

    Of a platform that is only observed nothing is sent. Where that is so in both plans they are compared as plans all
    the same; where it is so in one, that one does nothing there.
    """
    aborted = next((plan.reason for plan in (after, before) if plan.status is CycleStatus.ABORTED), "")
    if aborted:
        return Preview(stopped=aborted)
    left, leaves = _released(before, after), _released(after, before)
    return Preview(
        stopped=_halt(after),
        groups=tuple(_groups(before, after)),
        unblocked=tuple(_better(before, after)),
        held_up=tuple(_better(after, before)),
        released=_only(leaves, left),
        kept=_only(left, leaves),
        cancelled=_only(_cancelled(after), _cancelled(before)),
    )


def _halt(plan: CycleResult) -> str:
    halted = plan.state.halted
    return f"buying and releasing of slices is halted by {halted.by or 'an operator'}" if halted else ""


def _groups(before: CycleResult, after: CycleResult) -> Iterator[GroupEffect]:
    """Those that ask for another number of slices or that open or close, by name."""
    for name, one in sorted(after.evaluations.items()):
        old = before.evaluations.get(name)
        if old is None:
            continue
        asked, asks = (
            0 if _is_idle(name, *plans) else number
            for number, plans in ((old.scale_up, (before, after)), (one.scale_up, (after, before)))
        )
        if (old.outcome, asked) != (one.outcome, asks):
            yield GroupEffect(
                name,
                old.outcome,
                one.outcome,
                asked,
                asks,
                old.assigned,
                one.assigned,
                not _sends(name, after),
                *(plan.state.halted is not None for plan in (before, after)),
            )


def _sends(group: str, plan: CycleResult) -> bool:
    status = plan.state.platforms.get(plan.state.groups[group].platform)
    return status is None or status.mode is Mode.ACT


def _is_idle(group: str, plan: CycleResult, other: CycleResult) -> bool:
    """Whether what the plan has for a group is not sent, while what the other has is."""
    return not _sends(group, plan) and group in other.state.groups and _sends(group, other)


def _better(before: CycleResult, after: CycleResult) -> Iterator[JobEffect]:
    """Jobs that nothing comes for in the first plan, and something in the second."""
    waits = {hint.job_id: hint for hint in before.hints if hint.unsatisfied}
    hints: Mapping[str, PendingHint] = {hint.job_id: hint for hint in after.hints if hint.job_id in waits}
    for key, hint in waits.items():
        then = hints.get(key)
        if then is None or not then.unsatisfied:
            reason = beside(hint.reason, halted=before.state.halted is not None)
            yield JobEffect(key, reason, then.code.value if then else "")


def _released(plan: CycleResult, other: CycleResult) -> Collection[str]:
    found = ((group, one.scale_down) for group, one in plan.evaluations.items() if one.scale_down)
    return {name for group, names in found if not _is_idle(group, plan, other) for name in names}


def _cancelled(plan: CycleResult) -> Collection[str]:
    return {action.slice for action in plan.actions if action.kind is ActionKind.SLICE_CANCELLED}


def _only(these: Collection[str], others: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted(set(these) - set(others)))
