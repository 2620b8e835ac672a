"""What people did, marked in a chart at the moment when they did it."""

from datetime import UTC, datetime
from typing import Any

from django.db.models import QuerySet

from iris_web.pages import addresses, words
from scaling.grid import Grid
from scaling.models import Action, ActorKind

# More lines than these hide the chart.
MARKS_SHOWN = 12


def marks(acts: QuerySet[Action], grid: Grid) -> list[dict[str, Any]]:
    """`[{"at", "label", "by", "address"}]`: the newest acts by people and tokens within the grid. One query."""
    found = (
        acts.filter(at__gte=datetime.fromtimestamp(grid.start, UTC))
        .exclude(actor_kind=ActorKind.SYSTEM)
        .order_by("-id")[:MARKS_SHOWN]
    )
    return [
        {"at": act.at.timestamp(), "label": words.phrase(act.kind), "by": act.actor, "address": addresses.action(act)}
        for act in found
    ]
