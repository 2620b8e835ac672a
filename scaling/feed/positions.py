"""Where in the feed something stands: an opaque string outside, an ordered pair inside."""

import re
from typing import NamedTuple

# xid8 and bigserial both stay below this.
_LARGEST = 2**63 - 1
_FORM = re.compile(r"(?:(\d{1,19})-)?(\d{1,19})", re.ASCII)


class BadCursor(ValueError):
    """Raised for a text that no feed has given out."""


class Position(NamedTuple):
    """A place in the feed; positions compare in the order in which events became visible.

    `xid` is the writing transaction on PostgreSQL, where ids commit out of order; elsewhere it is 0 and `id` suffices.
    """

    xid: int
    id: int

    @classmethod
    def parse(cls, cursor: str) -> "Position":
        """Read what `str()` wrote: `<xid>-<id>` or `<id>`; raises BadCursor."""
        form = _FORM.fullmatch(cursor)
        if form is None:
            raise BadCursor(f"cursor: expected one that the feed gave out, got {cursor[:60]!r}")
        position = cls(int(form[1] or 0), int(form[2]))
        if max(position) > _LARGEST:
            raise BadCursor(f"cursor: expected one that the feed gave out, got {cursor[:60]!r}")
        return position

    def __str__(self) -> str:
        return f"{self.xid}-{self.id}" if self.xid else str(self.id)
