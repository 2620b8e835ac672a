"""Moves old actions into an archive file: the one way out of the table, past its guard, for what is safely in a file.

Each step can be repeated: the file is whole before the history tells of it, the history tells of it before a row
leaves, and rows leave in bounded transactions. Whatever breaks off is taken up by the same command with the same file.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from pathlib import Path

from django.db import connection, transaction

from scaling.audit.archive_file import ArchiveError, Contents, start_of_chain, verify_archive, write_archive
from scaling.audit.archives import ARCHIVE_KIND, latest_archive, removed_through
from scaling.audit.verifying import links
from scaling.history import Actor, record
from scaling.models import Action, ArchivePass, Seal, SealHead

BATCH_ROWS = 2000


@dataclass(frozen=True, slots=True)
class Archived:
    """What was done: the archive's contents, how many rows left now, and whether the file had been there."""

    contents: Contents
    removed: int
    resumed: bool


def archive(actor: Actor, before: datetime, path: Path, reason: str = "") -> Archived:
    """Archive every whole seal whose actions are all older than `before`; raises ArchiveError and Broken.

    Only from the beginning of the history, so the chain stays verifiable: seals stay in the table.
    """
    resumed = path.exists()
    if not resumed:
        _refuse_unfinished()
        _write(path, before)
    contents = verify_archive(path)
    _record(actor, path, contents, reason)
    return Archived(contents, _remove(contents.through_id), resumed)


def _write(path: Path, before: datetime) -> None:
    first = removed_through()
    start = Seal.objects.filter(through_id__lte=first).order_by("-number").values_list("number", "hash").first()
    after_seal, after_hash = start or start_of_chain()
    old = list(_old_seals(after_seal, before))
    if not old:
        raise ArchiveError(f"No sealed batch of actions is older than {before:%Y-%m-%d}: nothing is to be archived.")
    last = old[-1]
    write_archive(path, (seal for seal in links(last) if seal.number > after_seal), after_seal, after_hash)


def _old_seals(after_seal: int, before: datetime) -> Iterator[int]:
    """Numbers of the seals, from the first one kept, whose actions are all older."""
    head = SealHead.objects.filter(pk=1).first()
    spans = Seal.objects.filter(number__gt=after_seal, number__lte=head.number if head else 0).order_by("number")
    numbers = spans.values_list("number", "after_id", "through_id").iterator()
    return (number for number, _, _ in takewhile(lambda span: _is_old(span[1], span[2], before), numbers))


def _is_old(after_id: int, through_id: int, before: datetime) -> bool:
    return not Action.objects.filter(id__gt=after_id, id__lte=through_id, at__gte=before).exists()


def _refuse_unfinished() -> None:
    """A new archive must not begin while rows of the last one are still to be removed."""
    latest, through = latest_archive(), removed_through()
    if latest is not None and Action.objects.filter(id__lte=through).exists():
        raise ArchiveError(f"The last archive is not finished: give its file again, {latest.target}.")


def _refuse_strange(path: Path, contents: Contents) -> None:
    """A file that was there already must go on exactly where the last archive ended."""
    through = removed_through()
    if not contents.seals or contents.through_id <= through:
        raise ArchiveError(f"{path} holds nothing that has not left already.")
    if contents.after_id > through:
        raise ArchiveError(f"{path} begins after action {contents.after_id}, and only those up to {through} have left.")


@transaction.atomic
def _record(actor: Actor, path: Path, contents: Contents, reason: str) -> None:
    """Tell the history of the file, unless it knows; raises ArchiveError.

    Checked and told under the lock of the chain's head: of two archives at once the second sees the first.
    """
    SealHead.objects.select_for_update().filter(pk=1).first()
    digest = _sha256(path)
    if Action.objects.filter(kind=ARCHIVE_KIND, after__sha256=digest).exists():
        return
    _refuse_unfinished()
    _refuse_strange(path, contents)
    told = {
        "file": path.name,
        "sha256": digest,
        "actions": contents.actions,
        "through_id": contents.through_id,
        "last_seal": contents.last_seal,
    }
    record(ARCHIVE_KIND, actor=actor, target=f"file {path.name}", reason=reason, after=told)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remove(through_id: int) -> int:
    """Take the rows out, in bounded transactions; returns how many left."""
    removed = 0
    while True:
        gone = _remove_batch(through_id)
        removed += gone
        if gone < BATCH_ROWS:
            return removed


@transaction.atomic
def _remove_batch(through_id: int) -> int:
    ids = list(Action.objects.filter(id__lte=through_id).order_by("id").values_list("pk", flat=True)[:BATCH_ROWS])
    if not ids:
        return 0
    let_go = ArchivePass.objects.create(through_id=ids[-1])
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM scaling_action WHERE id <= %s", [ids[-1]])
    let_go.delete()
    return len(ids)
