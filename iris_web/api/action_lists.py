"""`/actions` of the API: the same filters as the page of actions, answered from the same indexes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iris_web.api.listings import DEFAULT_LIMIT, Filter, Listing, decode_id, encode
from iris_web.api.routes import Answer, Call
from iris_web.pages.action_filters import OUTCOMES, kind_choices, was_written
from scaling import models
from scaling.audit import matching
from scaling.audit.matching import Wanted
from scaling.operations.fields import nearest
from scaling.operations.inputs import Choice, Flag, JsonSchema, Moment, Text, Whole

_NAME = Text(200)
_ID = Whole(1, 2**63 - 1)


@dataclass(frozen=True, slots=True)
class ActionKind:
    """A kind that Iris writes, or one that only the history knows."""

    def read(self, value: object) -> str:
        kind = Text(40).read(value)
        if kind not in kind_choices() and not was_written(kind):
            known = nearest(kind, kind_choices())
            raise ValueError(f'expected a kind of action, such as drain or scale_up, got "{kind}"{known}')
        return kind

    def schema(self) -> JsonSchema:
        return {"type": "string", "maxLength": 40, "examples": ["drain", "scale_up"]}


FILTERS = (
    Filter("q", Text(300), "", "Words, or beginnings of words, in any order; signs part words, quotes keep a phrase."),
    Filter("kind", ActionKind(), "kind", f"One that Iris writes ({', '.join(kind_choices())}) or the history has."),
    *(Filter(name, _NAME, name) for name in ("group", "slice", "job", "target", "actor")),
    Filter("outcome", Choice(tuple(value for value, _ in OUTCOMES if value)), "outcome"),
    Filter("actor_kind", Choice(tuple(models.ActorKind.values)), "actor_kind"),
    Filter("by", Choice(("people", "system")), "", "people: acts of people and tokens; system: those of Iris itself."),
    Filter("source", Choice(tuple(models.Source.values)), "source", "Where the act came from."),
    Filter("cause", _ID, "cause_id", "Only what followed from this action."),
    Filter("cycle", _ID, "cycle", "Only what this cycle did."),
    Filter("routine", Flag(), "", "false: without updates of demand and deferrals by a rate."),
    Filter("since", Moment(nullable=False), "at__gte"),
    Filter("until", Moment(nullable=False), "at__lt"),
)  # fmt: skip
_EXACT = ("kind", "outcome", "actor_kind", "source", "actor", "group", "slice", "job", "target")


@dataclass(frozen=True, slots=True)
class ActionListing(Listing):
    """The history, newest first, found by `scaling.audit.matching`."""

    filters: Sequence[Filter] = FILTERS
    key: str = "id"
    newest_first: bool = True

    def __call__(self, call: Call) -> Answer:
        limit = call.query.get("limit", DEFAULT_LIMIT)
        cursor = call.query.get("cursor")
        found = matching.page(wanted(call.query), limit, decode_id(cursor) if cursor else None)
        items = [self.resource.render(row) for row in matching.rows(found.ids)]
        return Answer({"items": items, "next": encode(found.ids[-1]) if found.older else None})


def wanted(query: Any) -> Wanted:
    """What checked parameters ask for."""
    return Wanted(
        exact={name: query[name] for name in _EXACT if query.get(name)},
        text=query.get("q", ""),
        people={"people": True, "system": False}.get(query.get("by", "")),
        routine=query.get("routine", True),
        cycle=query.get("cycle"),
        cause=query.get("cause"),
        since=query.get("since"),
        until=query.get("until"),
    )
