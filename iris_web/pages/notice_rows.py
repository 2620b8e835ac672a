"""The notices of the settings page: what came of telling each, who is on it, and where that is said.

A stock-out is acknowledged where it is shown, by its marker: that silences its notice too. So the row of such a notice
tells of the marker's acknowledgement and leads to it; where there is no marker (any more), the notice alone is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from scaling.models import Marker, Notice, NoticeChannel, NoticeTelling
from scaling.notices.hearing import wants
from scaling.notices.keeping import is_acknowledged
from scaling.notices.kinds import CONDITIONS, NoticeKind
from scaling.open_markers import OPEN, is_owned

CHANNELS_NAMED = 3


class Hearing(StrEnum):
    """What came of telling a notice, in the words of the page."""

    HELD = "told when it lasts"
    ON_ITS_WAY = "on its way"
    TOLD = "told"
    GIVEN_UP = "not told: given up"
    NO_CHANNEL = "not told: no channel"


@dataclass(frozen=True, slots=True)
class NoticeRow:
    """A notice that is not over. `state`: what is done about it, in words; `owned`: somebody has acknowledged it."""

    notice: Notice
    label: str
    state: str
    owned: bool
    page: str
    acknowledge: str


def notice_rows(
    still: Sequence[Notice], in_use: Sequence[NoticeChannel], waiting: set[int], now: datetime
) -> list[NoticeRow]:
    """`in_use`: the channels that are on; `waiting`: the keys of those with messages under way. Two queries."""
    heard, markers = _hearings(still, in_use, waiting), _stockouts(still)
    return [_row(row, markers.get(row.object) if _is_stockout(row) else None, heard[row.pk], now) for row in still]


def stockout_of(notice: Notice) -> Marker | None:
    """The open marker that a notice of a stock-out tells of. One query, for such a notice."""
    return _stockouts([notice]).get(notice.object) if _is_stockout(notice) else None


def _is_stockout(notice: Notice) -> bool:
    return notice.kind == NoticeKind.STOCKOUT


def _stockouts(rows: Iterable[Notice]) -> dict[str, Marker]:
    """By the name of its group."""
    # No group has the empty name: the page asks as often on an empty cluster as on a full one.
    names = ["", *(row.object for row in rows if _is_stockout(row))]
    found = Marker.objects.filter(OPEN, kind=Marker.Kind.STOCKOUT, group__name__in=names)
    return {marker.group.name: marker for marker in found.select_related("group")}


def _row(row: Notice, marker: Marker | None, heard: str, now: datetime) -> NoticeRow:
    owned = is_owned(marker, now) if marker else is_acknowledged(row, now)
    return NoticeRow(
        row,
        CONDITIONS[NoticeKind(row.kind)].label,
        _state(row, marker, heard, now),
        owned,
        page=row.page,
        acknowledge=f"/stockouts/{marker.pk}/acknowledge/" if marker else f"/settings/notices/{row.pk}/acknowledge/",
    )


def _state(row: Notice, marker: Marker | None, heard: str, now: datetime) -> str:
    if marker and is_owned(marker, now):
        return f"silent: its stock-out is acknowledged by {marker.acknowledged_by}: {marker.acknowledged_note}"
    if is_acknowledged(row, now):
        alone = "; its stock-out has no owner" if marker else ""
        return f"acknowledged by {row.acknowledged_by}: {row.acknowledged_note}{alone}"
    if row.absent_since is not None:
        return "gone; it is over when it stays away"
    return heard


def _hearings(rows: Sequence[Notice], in_use: Sequence[NoticeChannel], waiting: set[int]) -> dict[int, str]:
    """By the key of a notice, who has heard of it. One query."""
    # Key 0, which no row has: as above.
    tellings = NoticeTelling.objects.filter(notice__in=[0, *(row.pk for row in rows)])
    made: dict[int, dict[int, bool]] = {}
    for notice, channel, heard in tellings.values_list("notice_id", "channel_id", "heard"):
        made.setdefault(notice, {})[channel] = heard
    return {row.pk: _hearing(row, made.get(row.pk, {}), waiting, in_use) for row in rows}


def _hearing(row: Notice, made: dict[int, bool], waiting: set[int], in_use: Sequence[NoticeChannel]) -> str:
    """`made`: by the key of a channel that a message was made for, whether it has taken it."""
    wanting = [channel for channel in in_use if wants(channel, row.kind)]
    heard = {channel for channel, taken in made.items() if taken}
    if heard:
        without = [channel for channel in wanting if channel.pk not in heard]
        return _told_by_some(len(heard), without, waiting) if without else Hearing.TOLD
    if row.told_at is None:
        return Hearing.HELD
    if not wanting:
        return Hearing.NO_CHANNEL
    if made and not made.keys() & waiting:
        return Hearing.GIVEN_UP
    return Hearing.ON_ITS_WAY


def _told_by_some(heard: int, without: Sequence[NoticeChannel], waiting: set[int]) -> str:
    """`told by 1 of 2 channels; not by pager`: who does not know is named."""
    coming = [channel.name for channel in without if channel.pk in waiting]
    lost = [channel.name for channel in without if channel.pk not in waiting]
    parts = [f"told by {heard} of {heard + len(without)} channels"]
    parts += [f"on its way to {_named(coming)}"] if coming else []
    return "; ".join([*parts, *([f"not by {_named(lost)}"] if lost else [])])


def _named(names: Sequence[str]) -> str:
    more = len(names) - CHANNELS_NAMED
    return ", ".join(names[:CHANNELS_NAMED]) + (f" and {more} more" if more > 0 else "")
