"""How far the history is sealed: on the settings page, and for one action."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import OuterRef, Subquery

from iris_web.access import Role
from iris_web.live.fragments import Context, Fragment, Params, register
from scaling.models import Action, Seal, SealHead


@dataclass(frozen=True, slots=True)
class SealFacts:
    """The seal that covers an action."""

    number: int
    at: datetime
    hash: str


def seal_of(action: Action) -> SealFacts | None:
    """None while it is not sealed yet. One query."""
    seals = Seal.objects.filter(through_id__gte=action.pk, after_id__lt=action.pk).order_by("through_id")
    found = seals.values_list("number", "at", "hash").first()
    return SealFacts(*found) if found else None


def state(_params: Params, _role: Role) -> Context:
    """One query, before the first seal two."""
    actions = Action.objects.order_by("id").values("at")
    oldest = Subquery(actions.filter(id__gt=OuterRef("through_id"))[:1])
    head = SealHead.objects.filter(pk=1, number__gt=0).annotate(waiting_since=oldest).first()
    if head is None:
        return {"head": None, "waiting_since": actions.values_list("at", flat=True).first()}
    return {"head": head, "waiting_since": head.waiting_since}


register(Fragment("settings.seals", "partials/settings_seals.html", state, {"cycle", "loops"}))
