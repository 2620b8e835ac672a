"""Reads the whole chain against the history and names the first thing that is not as it was sealed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from scaling.audit.archives import Gone, Recorded, recorded
from scaling.audit.canonical import COLUMNS, digest, time_text
from scaling.audit.chain import GENESIS, is_whole, unpack
from scaling.models import Action, Seal, SealHead

SEALS_AT_ONCE = 20
ROWS_AT_ONCE = 2000

Values = tuple[Any, ...]


class Broken(Exception):
    """The history is not as it was sealed; the message is one sentence that names the first broken row."""


@dataclass(slots=True)
class Report:
    """What was verified. `head` is the hash of the last seal, "" without one.

    `archived` actions, those up to `gone_through`, are not in the table: their seals are as they were made, and only
    the files of `archives` can show the rows.
    """

    seals: int = 0
    actions: int = 0
    archived: int = 0
    gone_through: int = 0
    unsealed: int = 0
    through_id: int = 0
    head: str = ""
    archives: list[Recorded] = field(default_factory=list)


def verify(known_head: str = "") -> Report:
    """Verify every seal and every sealed action; raises Broken.

    `known_head` is the hash of an earlier seal that was kept elsewhere, or how it begins: the chain must still have it.
    Memory is bounded whatever the length of the history; sealing and archiving may go on meanwhile.
    """
    end = SealHead.objects.filter(pk=1).first() or SealHead()
    report, found = Report(), not known_head
    gone = Gone()
    for seal in links(end.number):
        verify_rows(seal, stored_rows(seal), gone)
        report.seals, report.head, report.through_id = report.seals + 1, seal.hash, seal.through_id
        report.actions += seal.actions
        found = found or seal.hash.startswith(known_head)
    report.archived, report.gone_through = gone.count, gone.through_id
    _verify_end(report, end)
    if not found:
        named = known_head if len(known_head) == 64 else f"{known_head}…"
        raise Broken(
            f"No seal has the hash {named}: the chain was cut off or made anew since that head was written down."
        )
    report.archives = _verified_archives()
    report.unsealed = Action.objects.filter(id__gt=report.through_id).count()
    return report


def _verified_archives() -> list[Recorded]:
    found = recorded()
    for one in found:
        if not one.ends_with_a_seal:
            raise Broken(
                f"Action {one.action.pk} ({one.action.kind}) tells of no archive of Iris: an archive ends with a seal,"
                f" and no seal {one.last_seal} ends with action {one.through_id}."
            )
    return found


def links(last: int) -> Iterator[Seal]:
    """The seals up to number `last` in their order, each checked to be whole and to follow the one before."""
    number, through, previous = 0, 0, GENESIS
    while number < last:
        seals = list(Seal.objects.filter(number__gt=number, number__lte=last).order_by("number")[:SEALS_AT_ONCE])
        if not seals:
            break
        for seal in seals:
            if seal.number != number + 1:
                raise Broken(f"Seal {number + 1} is missing: after seal {number} comes seal {seal.number}.")
            if not is_whole(seal):
                raise Broken(
                    f"Seal {seal.number} of {time_text(seal.at)} was altered: its hash is not that of its row."
                )
            if seal.previous != previous or seal.after_id != through:
                raise Broken(f"Seal {seal.number} does not follow the seal before it: seals were exchanged or removed.")
            yield seal
            number, through, previous = seal.number, seal.through_id, seal.hash


def _verify_end(report: Report, end: SealHead) -> None:
    if end.number > report.seals:
        raise Broken(
            f"Seal {report.seals + 1} is missing: the chain ends with seal {report.seals}, and {end.number} were made."
        )
    beyond = Seal.objects.filter(number__gt=end.number).order_by("number").first()
    if report.head != end.hash or (beyond is not None and not SealHead.objects.filter(number__gte=beyond.number)):
        raise Broken(f"The head of the chain was altered: it does not name the last seal, {report.seals}.")


def none_gone(_number: int) -> bool:
    return False


def verify_rows(seal: Seal, rows: Iterator[Values], may_be_gone: Callable[[int], bool] = none_gone) -> None:
    """Compare a seal with the rows of its span, by id; raises Broken. `may_be_gone` is asked for each missing row."""
    where = f"sealed by seal {seal.number} at {time_text(seal.at)}"
    row = next(rows, None)
    for number, sealed in unpack(seal):
        if row is not None and row[0] < number:
            raise _inserted(row, seal)
        if row is None or row[0] > number:
            if not may_be_gone(number):
                raise Broken(f"Action {number} was removed: it was {where}, and is gone.")
            continue
        if digest(row) != sealed:
            raise Broken(f"Action {number} ({row[2]}) was changed after it was {where}.")
        row = next(rows, None)
    if row is not None:
        raise _inserted(row, seal)


def _inserted(row: Values, seal: Seal) -> Broken:
    return Broken(
        f"Action {row[0]} ({row[2]}) was inserted between others: seal {seal.number} of {time_text(seal.at)} covers "
        "its place and does not have it."
    )


def stored_rows(seal: Seal) -> Iterator[Values]:
    """The rows of a seal's span, by id, a few at a time."""
    after, columns = seal.after_id, COLUMNS[seal.form]
    while True:
        span = Action.objects.filter(id__gt=after, id__lte=seal.through_id)
        rows: list[Values] = list(span.order_by("id").values_list(*columns)[:ROWS_AT_ONCE])
        yield from rows
        if len(rows) < ROWS_AT_ONCE:
            return
        after = rows[-1][0]
