"""Who may act, and when each loop is due."""

from django.db import models


class Lease(models.Model):
    """Held by one holder until `expires_at`. Each new holder gets a larger `token`; a write with a stale one loses."""

    name = models.CharField(max_length=100, unique=True)
    holder = models.CharField(max_length=100, blank=True, default="")
    token = models.BigIntegerField(default=0)
    expires_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.name} held by {self.holder or 'nobody'}"


class Loop(models.Model):
    """One periodic loop. The ticker claims a due row and enqueues its task in the same transaction.

    `running_since` is set while a round is queued or runs: a round whose predecessor still runs is skipped.
    """

    name = models.CharField(max_length=50, unique=True)
    period_seconds = models.FloatField()
    next_due_at = models.DateTimeField()
    round = models.BigIntegerField(default=0)
    running_since = models.DateTimeField(null=True, blank=True)
    skipped = models.PositiveBigIntegerField(default=0)
    last_started_at = models.DateTimeField(null=True, blank=True)
    last_finished_at = models.DateTimeField(null=True, blank=True)
    last_lateness_ms = models.FloatField(default=0)
    last_error = models.TextField(blank=True, default="")

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name
