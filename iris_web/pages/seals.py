"""How far the history is sealed: on the settings page, and for one action."""

from dataclasses import dataclass
from datetime import datetime

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
    """Two queries."""
    head = SealHead.objects.filter(pk=1, number__gt=0).first()
    waiting = Action.objects.filter(id__gt=head.through_id if head else 0).order_by("id").values_list("at", flat=True)
    return {"head": head, "waiting_since": waiting.first()}


register(Fragment("settings.seals", "partials/settings_seals.html", state, {"cycle", "loops"}))
