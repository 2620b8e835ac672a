"""Markers: durable memory of a failure on a group."""

from django.db import models
from django.db.models import Q

from scaling.models.groups import Group


class Marker(models.Model):
    """One failure memory. Open while `closed_at` is None; closed ones are the history.

    A marker past `until` no longer blocks but stays open until a success clears it (the group is probing).
    """

    class Kind(models.TextChoices):
        STOCKOUT = "stockout"
        BACKOFF = "backoff"
        QUOTA = "quota"
        PERMANENT = "permanent"

    group = models.ForeignKey(Group, on_delete=models.CASCADE, related_name="markers")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    since = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)
    message = models.TextField(blank=True, default="", help_text="The platform's own words.")
    failures = models.PositiveIntegerField(default=1)
    last_failure_at = models.DateTimeField()
    needs_person = models.BooleanField(default=False)
    acknowledged_at = models.DateTimeField(null=True, blank=True)
    acknowledged_by = models.CharField(max_length=150, blank=True, default="")
    acknowledged_note = models.CharField(max_length=1000, blank=True, default="")
    acknowledged_until = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.CharField(max_length=150, blank=True, default="")
    closed_reason = models.CharField(max_length=500, blank=True, default="")
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ("-since", "-id")
        constraints = [
            models.UniqueConstraint(
                fields=["group", "kind"], condition=Q(closed_at__isnull=True), name="one_open_marker_per_kind"
            )
        ]
        indexes = [models.Index(fields=["closed_at", "-since"])]

    def __str__(self) -> str:
        return f"{self.kind} on {self.group}"
