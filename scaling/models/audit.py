"""What proves that the history of actions is as it was written: a chain of seals over batches of its rows."""

from django.db import models

from scaling.append_only import AppendOnlyManager


class Seal(models.Model):
    """One link of the chain: the digests of a batch of actions, and the hash of the seal before. Append-only.

    It covers every action with `after_id` < id <= `through_id`. `entries` holds, for each of them in the order of
    their ids, 8 bytes of id (big-endian) and the 32 bytes of its digest; `form` is the version of the canonical form
    digested (`scaling.audit.canonical`). `hash` is over all other columns (`scaling.audit.chain`).
    """

    number = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField()
    form = models.PositiveSmallIntegerField()
    after_id = models.BigIntegerField()
    through_id = models.BigIntegerField(db_index=True)
    actions = models.PositiveIntegerField()
    entries = models.BinaryField()
    previous = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    objects = AppendOnlyManager()

    class Meta:
        ordering = ("number",)

    def __str__(self) -> str:
        return f"seal {self.number}"


class SealHead(models.Model):
    """Where the chain ends: a single row that moves with each seal, so that a cut-off end of the chain shows."""

    number = models.BigIntegerField(default=0)
    through_id = models.BigIntegerField(default=0)
    hash = models.CharField(max_length=64, blank=True, default="")
    at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"head {self.number}"


class ArchivePass(models.Model):
    """What lets actions through the guard: those with an id up to `through_id`, while this row is there.

    Written and taken away within the one transaction that removes archived rows, so no other ever sees it.
    """

    through_id = models.BigIntegerField()

    def __str__(self) -> str:
        return f"pass through {self.through_id}"
