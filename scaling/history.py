"""Writes the append-only history: one Action per act, in the transaction of the change it tells of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from scaling import clock, feed
from scaling.models import Action, ActorKind, Source

# Rows per INSERT; Django lowers it further where the database takes fewer parameters.
BATCH_ROWS = 500
TARGET_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, and from where: a person on a page, in the admin or in a shell, a token, or Iris itself."""

    kind: ActorKind
    name: str
    source: Source

    @classmethod
    def user(cls, name: str, source: Source = Source.PAGE) -> "Actor":
        return cls(ActorKind.USER, name, source)


SYSTEM = Actor(ActorKind.SYSTEM, "iris", Source.CYCLE)


@dataclass(frozen=True, slots=True)
class NewAction:
    """An Action to be written. `cause` is the Action (or its id) this one follows from; `at` None means now.

    `before` and `after` hold only what changed, as JSON values.
    """

    kind: str
    actor: Actor = SYSTEM
    group: str = ""
    slice: str = ""
    job: str = ""
    target: str = ""
    reason: str = ""
    outcome: str = "ok"
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    cause: Action | int | None = None
    cycle: int | None = None
    at: datetime | None = None


def record(
    kind: str,
    *,
    actor: Actor = SYSTEM,
    group: str = "",
    slice: str = "",
    job: str = "",
    target: str = "",
    reason: str = "",
    outcome: str = "ok",
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    cause: Action | int | None = None,
    cycle: int | None = None,
    at: datetime | None = None,
) -> Action:
    """Write one Action in the caller's transaction and publish it."""
    new = NewAction(kind, actor, group, slice, job, target, reason, outcome, before, after, cause, cycle, at)
    return record_many([new])[0]


def record_many(actions: Sequence[NewAction]) -> list[Action]:
    """Write Actions in bulk, in order, with their ids filled in, and publish each on the feed."""
    if not actions:
        return []
    now = clock.now()
    rows: list[Action] = Action.objects.bulk_create([_row(new, now) for new in actions], batch_size=BATCH_ROWS)
    feed.publish_many([event for row in rows for event in _events(row)])
    return rows


def _row(new: NewAction, now: datetime) -> Action:
    return Action(
        at=new.at or now,
        kind=new.kind,
        actor_kind=new.actor.kind,
        actor=new.actor.name,
        source=new.actor.source,
        group=new.group,
        slice=new.slice,
        job=new.job,
        # `quota pool <name>` can be longer than a name may be.
        target=new.target[:TARGET_CHARACTERS],
        reason=new.reason,
        outcome=new.outcome,
        before=None if new.before is None else dict(new.before),
        after=None if new.after is None else dict(new.after),
        cause_id=new.cause.pk if isinstance(new.cause, Action) else new.cause,
        cycle=new.cycle,
    )


def _events(row: Action) -> Iterator[feed.NewEvent]:
    """The new row for the list of actions, and for the page of its cause, which shows what followed."""
    yield feed.NewEvent("actions", "action", {"id": row.pk}, at=row.at)
    if row.cause_id is not None:
        yield feed.NewEvent(f"action:{row.cause_id}", "effect", {"id": row.pk}, at=row.at)
