"""This installation: its identity, its one stop control, its processes' signs of life."""

from django.db import models


class Installation(models.Model):
    """One row. `identity` marks every slice bought by it; `halted_*` stops buying and releasing of slices at once."""

    identity = models.CharField(max_length=36, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    halted_since = models.DateTimeField(null=True, blank=True)
    halted_by = models.CharField(max_length=150, blank=True, default="")
    halted_reason = models.CharField(max_length=500, blank=True, default="")
    # The token bucket of creates over all groups.
    create_tokens = models.FloatField(null=True, blank=True)
    create_tokens_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=1)
    # True where the demonstration cluster and its load were made by `up`.
    demonstration = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.identity


class Heartbeat(models.Model):
    """The last sign of life of a process or of the task queue as a whole."""

    name = models.CharField(max_length=100, unique=True)
    at = models.DateTimeField()
    info = models.JSONField(default=dict)

    def __str__(self) -> str:
        return self.name
