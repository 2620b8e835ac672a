"""What is said once an act is done: that it is, and where it is taken back."""

from datetime import datetime

from django.utils.html import format_html

from iris_web.pages import addresses
from scaling.history import Actor
from scaling.models import Action
from scaling.operations.changes import ACTS_LOOKED_AT
from scaling.operations.taking_back import takes_back
from scaling.operations.undo import is_undoable


def undo_address(actor: Actor, began: datetime) -> str:
    """Where what this person has just done is taken back, "" where nothing takes it back."""
    latest = Action.objects.filter(actor=actor.name, actor_kind=actor.kind, source=actor.source, at__gte=began)
    # What merely follows from the act is not what the person did.
    rows = latest.select_related("cause").order_by("-id")[:ACTS_LOOKED_AT]
    action = next((one for one in rows if one.cause is None or takes_back(one, one.cause)), None)
    return f"{addresses.action(action)}undo/" if action and is_undoable(action) else ""


def done_text(done: str, undo: str) -> str:
    """What was done, with a link to take it back where there is one."""
    return format_html('{} <a href="{}">Undo</a>', done, undo) if undo else done
