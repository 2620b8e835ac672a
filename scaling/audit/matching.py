"""Finds actions among millions: every list, export and count of actions asks here, on both databases.

Each question is answered from an index in the order of ids: exact filters from the indexes of their columns, words
from the full-text index; on SQLite also several filters together (see `scaling.audit.index`).
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import connection
from django.db.models import Max

from scaling.audit.index import TABLE
from scaling.audit.question import Bounds, Question, Wanted, but
from scaling.audit.words import phrases
from scaling.models import Action
from scaling.once import fact

__all__ = ["Newest", "PageOfIds", "Wanted", "among", "but", "ids", "newest", "page", "remember", "rows"]

# An action is dated when it is written; however long that takes and however clocks differ, not further off than this.
DATED_WITHIN = timedelta(hours=1)
# So many neighbours in time are asked for their ids, lest one that a wrong clock dated hides the others.
NEIGHBOURS = 50
# So many of the nearest ids PostgreSQL searches row by row before it asks the index of words.
NEAREST = 20_000
# And so many times as many, where that many times what it found fills the page, or the word is a common one.
FARTHER = 5
# To find so many by the index of words and put them in order takes longer than to go through the rows of a page.
COMMON = 20_000


@dataclass(frozen=True, slots=True)
class PageOfIds:
    """Ids, newest first, and whether there are newer or older ones."""

    ids: list[int]
    newer: bool
    older: bool


@dataclass(frozen=True, slots=True)
class Newest:
    """(id, kind) of the newest that match, newest first; `whole`: there are no others."""

    found: list[tuple[int, str]]
    whole: bool

    @property
    def kinds(self) -> Counter[str]:
        return Counter(kind for _, kind in self.found)

    def ids(self, limit: int, below: int | None, above: int | None, oldest_first: bool) -> list[int] | None:
        """What `ids` would answer; None where that is not known from these."""
        found = [pk for pk, _ in self.found if (below is None or pk < below) and (above is None or pk > above)]
        if self.whole:
            return found[::-1][:limit] if oldest_first else found[:limit]
        return None if oldest_first or len(found) < limit else found[:limit]


@fact
def _answers() -> list[tuple[Wanted, Newest]]:
    """What is known while one page is made, whose parts ask for the same; forgotten at once outside of one."""
    return []


def remember(wanted: Wanted, found: Newest) -> None:
    """Let what is known answer further questions, where a page asks once (scaling.once)."""
    _answers().append((wanted, found))


def page(wanted: Wanted, size: int, after: int | None = None, before: int | None = None) -> PageOfIds:
    """One page: the newest, those older than id `after`, or those just newer than id `before` (0: the oldest page)."""
    if before is not None:
        found = ids(wanted, size + 1, above=before, oldest_first=True)
        return PageOfIds(found[:size][::-1], newer=len(found) > size, older=before > 0)
    found = ids(wanted, size + 1, below=after)
    return PageOfIds(found[:size], newer=after is not None, older=len(found) > size)


def rows(found: Collection[int], *, whole: bool = True) -> list[Action]:
    """The actions of these ids, newest first; without before and after unless `whole`. One query."""
    actions = Action.objects.all() if whole else Action.objects.defer("before", "after")
    return list(actions.filter(pk__in=found).order_by("-id")) if found else []


def among(wanted: Wanted, candidates: Collection[int]) -> list[int]:
    """Which of a few ids match, oldest first."""
    if not candidates:
        return []
    question = Question(wanted)
    question.add(f"{question.id} IN ({', '.join(['%s'] * len(candidates))})", *candidates)
    return question.ask(len(candidates), oldest_first=True)


def ids(
    wanted: Wanted, limit: int, *, below: int | None = None, above: int | None = None, oldest_first: bool = False
) -> list[int]:
    """The ids of up to `limit` matching actions between two ids (both exclusive), newest first unless told."""
    for asked, found in _answers():
        answer = found.ids(limit, below, above, oldest_first) if asked == wanted else None
        if answer is not None:
            return answer
    bounds = _bounds(wanted, below, above)
    if bounds is None:
        return []
    if wanted.text and connection.vendor == "postgresql":
        return _in_two_steps(wanted, bounds, limit, oldest_first)
    return Question(wanted).within(bounds).ask(limit, oldest_first)


def _in_two_steps(wanted: Wanted, bounds: Bounds, limit: int, oldest_first: bool) -> list[int]:
    """PostgreSQL: first among the nearest rows, one by one; then by the index of words, all that match.

    Where the nearest have so many that the next ones ought to fill the page, these are gone through as well. So they
    are for a common word, of which the nearest may have none when something else has just happened a lot; of several
    words it is not known how often they meet.
    """
    low, high = bounds
    if oldest_first:
        first = Action.objects.filter(id__gt=low).order_by("id").values_list("pk", flat=True).first()
        start = (first or low + 1) - 1
    else:
        start = high if high is not None else (Action.objects.aggregate(last=Max("id"))["last"] or 0) + 1
    found: list[int] = []
    for step in (NEAREST, NEAREST * FARTHER):
        near, start = _step(start, step, bounds, oldest_first)
        found += Question(wanted).within(near).ask(limit - len(found), oldest_first)
        if len(found) >= limit or not low < start < (high or start + 1):
            return found
        if len(found) * FARTHER < limit and not _is_common(wanted):
            break
    far = (start, high) if oldest_first else (low, start)
    return found + Question(wanted).within(far).ask_index(limit - len(found), oldest_first)


def _is_common(wanted: Wanted) -> bool:
    return len(phrases(wanted.text)) == 1 and Question(wanted).estimated() >= COMMON


def _step(start: int, rows: int, bounds: Bounds, oldest_first: bool) -> tuple[Bounds, int]:
    """The next ids: after `start` (exclusive) where oldest first, else before it; and where the rest begins."""
    low, high = bounds
    if oldest_first:
        end = start + rows
        return (start, end + 1 if high is None else min(end + 1, high)), end
    end = start - rows
    return (max(low, end - 1), start), end


def newest(wanted: Wanted, limit: int, head: Sequence[tuple[int, str]] = (), below: int | None = None) -> Newest:
    """The newest that match, at most `limit`; those of `head` are known: all that match and are not below that id."""
    left = limit - len(head)
    found = ids(wanted, left, below=below) if left > 0 else []
    kinds = _kinds(found)
    rest = [(pk, kinds[pk]) for pk in found if pk in kinds]
    answer = Newest([*head, *rest][:limit], whole=len(found) < left)
    remember(wanted, answer)
    return answer


def _kinds(found: list[int]) -> dict[int, str]:
    if not found:
        return {}
    with connection.cursor() as cursor:
        # Whole numbers in the text: hundreds of parameters would take longer than the answer.
        cursor.execute(f"SELECT id, kind FROM {TABLE} WHERE id IN ({', '.join(map(str, found))})")  # noqa: S608
        return dict(cursor.fetchall())


def _bounds(wanted: Wanted, below: int | None, above: int | None) -> Bounds | None:
    """(exclusive lower id, exclusive upper id or None), narrowed by the times; None where nothing can match.

    Ids grow with time: an old span is begun at its ids instead of after millions of newer rows.
    """
    low, high = above or 0, below
    if wanted.since is not None:
        later = Action.objects.filter(at__gte=wanted.since - DATED_WITHIN).order_by("at", "id")
        firsts = list(later.values_list("pk", flat=True)[:NEIGHBOURS])
        if not firsts:
            return None
        low = max(low, min(firsts) - 1)
    if wanted.until is not None:
        earlier = Action.objects.filter(at__lt=wanted.until + DATED_WITHIN).order_by("-at", "-id")
        lasts = list(earlier.values_list("pk", flat=True)[:NEIGHBOURS])
        if not lasts:
            return None
        high = min(max(lasts) + 1, high or max(lasts) + 1)
    return low, high
