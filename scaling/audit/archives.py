"""What has left into archives, as the history itself tells: each archive is one action of this kind.

Whoever can write into the table can write such an action too: it allows rows to be gone, it proves nothing of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scaling.models import Action, Seal

ARCHIVE_KIND = "archive_actions"


@dataclass(frozen=True, slots=True)
class Recorded:
    """An archive as its action tells of it; numbers are -1 where it does not tell them."""

    action: Action
    through_id: int
    last_seal: int

    @property
    def ends_with_a_seal(self) -> bool:
        """Archives hold whole seals: one that does not was never written by Iris."""
        return bool(Seal.objects.filter(number=self.last_seal, through_id=self.through_id).exists())


def recorded() -> list[Recorded]:
    """Every archive whose action is in the table, oldest first. Older actions of this kind may have left themselves."""
    return [_recorded(action) for action in Action.objects.filter(kind=ARCHIVE_KIND).order_by("id")]


def _recorded(action: Action) -> Recorded:
    told = action.after if isinstance(action.after, dict) else {}
    return Recorded(action, _whole(told, "through_id"), _whole(told, "last_seal"))


def _whole(told: Mapping[str, Any], name: str) -> int:
    value = told.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def latest_archive() -> Action | None:
    found: Action | None = Action.objects.filter(kind=ARCHIVE_KIND).order_by("-id").first()
    return found


def removed_through() -> int:
    """The id up to which actions have left, or are leaving, of all archives; 0 where none have."""
    return max((one.through_id for one in recorded()), default=0)


class Gone:
    """Which rows may be gone: archived ones, from the beginning of the history without a gap. Counts them.

    Asked again as it goes on, since an archive may be made meanwhile; its rows leave oldest first.
    """

    def __init__(self) -> None:
        self.count, self.through_id = 0, 0
        self._may_be_gone = 0

    def __call__(self, number: int) -> bool:
        """Whether action `number`, which is not there, may be gone."""
        if number > self._may_be_gone:
            self._may_be_gone = self._look()
        if number > self._may_be_gone:
            return False
        self.count, self.through_id = self.count + 1, number
        return True

    @staticmethod
    def _look() -> int:
        # The rows first: an archive is recorded before a row of it leaves.
        oldest = Action.objects.order_by("id").values_list("pk", flat=True).first()
        removed = removed_through()
        return removed if oldest is None else min(removed, oldest - 1)
