"""The loop that seals the history: each round, what is settled and not sealed yet, in batches."""

import logging
import time
from datetime import datetime

from django.db import transaction

from scaling.audit.bounds import PATIENCE_SECONDS, settled_id
from scaling.audit.canonical import COLUMNS, FORM, digest
from scaling.audit.chain import GENESIS, Entry, make_seal
from scaling.models import Action, Seal, SealHead

logger = logging.getLogger(__name__)

BATCH_ROWS = 1000
# A round ends well before the queue's time-out; what is left goes in the next one.
BUDGET_SECONDS = 8.0


def run(now: datetime, budget_seconds: float = BUDGET_SECONDS, patience_seconds: float = PATIENCE_SECONDS) -> None:
    """Seal what is new. The log line names the head: kept elsewhere, it proves what this database says of the past."""
    sealed = seal_new(now, BATCH_ROWS, budget_seconds, patience_seconds)
    if sealed:
        head = sealed[-1]
        logger.info(
            "history sealed",
            extra={"seal": head.number, "head": head.hash, "through_action": head.through_id,
                   "actions": sum(seal.actions for seal in sealed)},
        )  # fmt: skip


def seal_new(
    now: datetime,
    batch_rows: int = BATCH_ROWS,
    budget_seconds: float = BUDGET_SECONDS,
    patience_seconds: float = PATIENCE_SECONDS,
) -> list[Seal]:
    """Seal every settled action that no seal covers; the new seals, oldest first."""
    deadline = time.monotonic() + budget_seconds
    settled, made = settled_id(patience_seconds), []
    while settled is not None:
        seal = _seal_next(now, settled, batch_rows)
        if seal is None:
            break
        made.append(seal)
        if seal.through_id >= settled or time.monotonic() >= deadline:
            break
    return made


def _seal_next(now: datetime, settled: int, batch_rows: int) -> Seal | None:
    """One seal over the next batch; None where there is nothing to seal, or another sealer was first.

    The rows are read and digested before the transaction begins: they cannot change, and no writer waits.
    """
    head = current_head()
    rows = Action.objects.filter(id__gt=head.through_id, id__lte=settled).order_by("id").values_list(*COLUMNS[FORM])
    entries: list[Entry] = [(row[0], digest(row)) for row in rows[:batch_rows]]
    if not entries:
        return None
    through = entries[-1][0] if len(entries) == batch_rows else settled
    seal = make_seal(head.number + 1, now, FORM, head.through_id, through, entries, head.hash or GENESIS)
    return seal if _store(seal, head) else None


@transaction.atomic
def _store(seal: Seal, seen: SealHead) -> bool:
    """Add the seal and move the head to it, unless the head has moved since it was seen."""
    moved = SealHead.objects.filter(pk=1, number=seen.number).update(
        number=seal.number, through_id=seal.through_id, hash=seal.hash, at=seal.at
    )
    if moved:
        seal.save(force_insert=True)
    return bool(moved)


def is_behind() -> bool:
    """Whether there are actions that no seal covers."""
    return bool(Action.objects.filter(id__gt=current_head().through_id).exists())


def current_head() -> SealHead:
    """The end of the chain; number 0 before the first seal."""
    return SealHead.objects.get_or_create(pk=1)[0]
