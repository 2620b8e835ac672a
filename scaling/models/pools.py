"""Quota pools: a limit in devices that several groups share."""

from django.db import models


class QuotaPool(models.Model):
    """`limit` in devices (workers where a group has none); a platform-told `learned_limit` wins while lower."""

    name = models.CharField(max_length=200, unique=True)
    limit = models.PositiveIntegerField(null=True, blank=True, help_text="Devices; empty = not limited here.")
    quota_metric = models.CharField(
        max_length=200, blank=True, default="", help_text="The platform's own name of this quota."
    )
    learned_limit = models.PositiveIntegerField(null=True, blank=True, editable=False)
    learned_at = models.DateTimeField(null=True, blank=True, editable=False)
    version = models.PositiveIntegerField(default=1, editable=False)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name
