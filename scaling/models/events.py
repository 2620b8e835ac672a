"""The feed that pages and clients follow; `scaling.feed` writes and reads it. Old rows leave by retention only."""

from django.db import models


class Event(models.Model):
    """Something that changed. `topic` names what (`group:tpu-v5-8`, `actions`); `payload` is small and JSON.

    On PostgreSQL ids commit out of order, so a migration adds `xid xid8 default pg_current_xact_id()` there and readers
    stay below the snapshot's xmin.
    """

    at = models.DateTimeField(db_index=True)
    topic = models.CharField(max_length=220)
    kind = models.CharField(max_length=40)
    payload = models.JSONField(default=dict)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.kind} {self.topic}"
