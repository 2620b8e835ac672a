"""What people did, marked in a chart at the moment when they did it."""

from datetime import UTC, datetime
from typing import Any

from iris_web.pages import addresses, words
from scaling.audit import matching
from scaling.grid import Grid

# More lines than these hide the chart.
MARKS_SHOWN = 12


def marks(grid: Grid, **exact: str) -> list[dict[str, Any]]:
    """`[{"at", "label", "by", "address"}]`: the newest acts by people and tokens within the grid.

    `exact` (as of `Wanted`) says of which group or target. That may have a hundred thousand acts of Iris itself: the
    history's own search goes to those of people.
    """
    wanted = matching.Wanted(exact=exact, people=True, since=datetime.fromtimestamp(grid.start, UTC))
    found = matching.rows(matching.ids(wanted, MARKS_SHOWN), whole=False)
    return [
        {"at": act.at.timestamp(), "label": words.phrase(act.kind), "by": act.actor, "address": addresses.action(act)}
        for act in found
    ]
