"""Scaling groups: a kind of slice that can be bought in one place (AUTOSCALER section 1)."""

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q

from scaling.models.platforms import Platform
from scaling.models.pools import QuotaPool


class Group(models.Model):
    """A scaling group with its limits and what operators ordered for it.

    `version` grows with every edit, drain or pause; writers give the version they saw and lose when it has moved.
    """

    name = models.CharField(max_length=200, unique=True)
    platform = models.ForeignKey(Platform, on_delete=models.PROTECT, related_name="groups")
    zone = models.CharField(max_length=100, blank=True, default="")
    region = models.CharField(max_length=100, blank=True, default="")
    device_type = models.CharField(
        max_length=8, default="cpu", choices=[("cpu", "cpu"), ("gpu", "gpu"), ("tpu", "tpu")]
    )
    device_variant = models.CharField(max_length=100, blank=True, default="")
    devices_per_worker = models.PositiveIntegerField(default=0)
    workers_per_slice = models.PositiveIntegerField(default=1, validators=[MinValueValidator(1)])
    worker_cpu = models.FloatField(default=0, help_text="Cores of one worker; 0 = unlimited.")
    worker_memory = models.BigIntegerField(default=0, help_text="Bytes of one worker; 0 = unlimited.")
    worker_disk = models.BigIntegerField(default=0, help_text="Bytes of one worker; 0 = unlimited.")
    capacity_type = models.CharField(
        max_length=16,
        default="on_demand",
        choices=[("on_demand", "on demand"), ("preemptible", "preemptible"), ("reserved", "reserved")],
    )
    priority = models.IntegerField(default=100, help_text="Lower is tried first.")
    min_slices = models.PositiveIntegerField(default=0, help_text="Floor on the total number of slices.")
    buffer_slices = models.PositiveIntegerField(default=0, help_text="Warm slices kept above demand.")
    max_slices = models.PositiveIntegerField(
        default=0, help_text="Hard cap on every slice that is not gone; 0 = no growth."
    )
    quota_pool = models.ForeignKey(QuotaPool, null=True, blank=True, on_delete=models.PROTECT, related_name="groups")
    allocation_tier = models.IntegerField(
        null=True, blank=True, help_text="Place in the quota pool; larger tier = larger slice."
    )
    idle_threshold_seconds = models.FloatField(
        default=300,
        validators=[MinValueValidator(0)],
        help_text="A slice must be idle this long before it may go.",
    )
    drain_idle_threshold_seconds = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="The longer window while the group drains; empty = twice the idle threshold.",
    )
    scale_up_rate = models.FloatField(
        default=16, validators=[MinValueValidator(0)], help_text="Slices per minute this group may request."
    )
    scale_down_rate = models.FloatField(
        default=32, validators=[MinValueValidator(0)], help_text="Slices per minute this group may release."
    )
    provision_timeout_seconds = models.FloatField(
        default=900,
        validators=[MinValueValidator(1)],
        help_text="Requesting or booting longer than this = failed.",
    )
    attributes = models.JSONField(default=dict, blank=True, help_text="Extra labels that constraints may name.")
    price_per_slice_hour = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)

    drain_since = models.DateTimeField(null=True, blank=True, editable=False)
    drain_by = models.CharField(max_length=150, blank=True, default="", editable=False)
    drain_reason = models.CharField(max_length=500, blank=True, default="", editable=False)
    drain_deadline = models.DateTimeField(null=True, blank=True, editable=False)
    pause_since = models.DateTimeField(null=True, blank=True, editable=False)
    pause_by = models.CharField(max_length=150, blank=True, default="", editable=False)
    pause_reason = models.CharField(max_length=500, blank=True, default="", editable=False)
    pause_until = models.DateTimeField(null=True, blank=True, editable=False)

    version = models.PositiveIntegerField(default=1, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("priority", "name")
        constraints = [
            models.CheckConstraint(
                condition=Q(max_slices__gte=F("min_slices")),
                name="group_max_not_below_min",
                violation_error_message="max_slices: expected at least min_slices",
            ),
            models.CheckConstraint(condition=Q(workers_per_slice__gte=1), name="group_has_workers"),
        ]

    def __str__(self) -> str:
        return self.name
