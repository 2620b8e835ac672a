"""Slices and their workers."""

from django.db import models
from django.db.models import Q

from scaling.models.groups import Group
from scaling.models.platforms import Platform


class Slice(models.Model):
    """A slice, bought and released whole. Its name is the platform's idempotency key.

    `requested_at`: the intent was written. `sent_at`: a create call is or was under way; `next_attempt_at`: when it may
    be made (again), while one is under way when its claim runs out. `answered_at`: the platform accepted. `drain_*`: an
    operator drains this slice. `not_found_count`: listings in a row that lacked it. `delete_asked_at`: the platform was
    told to end it. `cause`: the action that asked for it.
    """

    class State(models.TextChoices):
        REQUESTING = "REQUESTING"
        BOOTING = "BOOTING"
        READY = "READY"
        DRAINING = "DRAINING"
        TERMINATING = "TERMINATING"
        FAILED = "FAILED"
        GONE = "GONE"

    LIVE = (State.REQUESTING, State.BOOTING, State.READY, State.DRAINING, State.TERMINATING)

    name = models.CharField(max_length=63, unique=True)
    group = models.ForeignKey(Group, on_delete=models.PROTECT, related_name="slices")
    platform = models.ForeignKey(Platform, on_delete=models.PROTECT, related_name="slices")
    state = models.CharField(max_length=12, choices=State.choices, default=State.REQUESTING)
    requested_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    ready_at = models.DateTimeField(null=True, blank=True)
    idle_since = models.DateTimeField(null=True, blank=True)
    delete_asked_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=500, blank=True, default="")
    error = models.TextField(blank=True, default="")
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    is_probe = models.BooleanField(default=False)
    gang = models.CharField(
        max_length=310, blank=True, default="", help_text="The gang job these workers are kept for."
    )
    gang_since = models.DateTimeField(null=True, blank=True)
    not_found_count = models.PositiveIntegerField(default=0)
    drain_since = models.DateTimeField(null=True, blank=True)
    drain_by = models.CharField(max_length=150, blank=True, default="")
    drain_reason = models.CharField(max_length=500, blank=True, default="")
    drain_deadline = models.DateTimeField(null=True, blank=True)
    # Without a constraint in the database: the action may have left into an archive.
    cause = models.ForeignKey(
        "scaling.Action", null=True, blank=True, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False
    )

    class Meta:
        ordering = ("name",)
        indexes = [
            models.Index(fields=["group", "state"]),
            models.Index(
                fields=["platform", "state"],
                name="slice_live",
                condition=Q(state__in=["REQUESTING", "BOOTING", "READY", "DRAINING", "TERMINATING"]),
            ),
            models.Index(fields=["ended_at"]),
            # What pages count by group: all of it stands in the index, and what is gone does not lengthen it.
            models.Index(
                fields=["group", "state", "idle_since"],
                name="slice_counts",
                condition=Q(state__in=["REQUESTING", "BOOTING", "READY", "DRAINING", "TERMINATING"]),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Worker(models.Model):
    """One machine of a slice. `idle_since` is None while it has an active task.

    `unknown_since` is set while it is silent or its platform cannot tell how it is.
    `heartbeat_at`: when its last count of tasks was taken, by its own clock. `heard_at`: when Iris last received one.
    """

    class State(models.TextChoices):
        BOOTING = "BOOTING"
        READY = "READY"
        UNKNOWN = "UNKNOWN"
        NOT_FOUND = "NOT_FOUND"

    name = models.CharField(max_length=80, unique=True)
    slice = models.ForeignKey(Slice, on_delete=models.CASCADE, related_name="workers")
    index = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=12, choices=State.choices, default=State.BOOTING)
    address = models.CharField(max_length=200, blank=True, default="")
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    heard_at = models.DateTimeField(null=True, blank=True)
    unknown_since = models.DateTimeField(null=True, blank=True)
    idle_since = models.DateTimeField(null=True, blank=True)
    not_found_count = models.PositiveIntegerField(default=0)
    # Tasks that the worker itself reports beside those Iris placed (another scheduler's).
    reported_tasks = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("slice", "index")

    def __str__(self) -> str:
        return self.name


class Orphan(models.Model):
    """A listed slice that bears this installation's id and belongs to no group: it is swept after a grace."""

    name = models.CharField(max_length=200)
    platform = models.ForeignKey(Platform, on_delete=models.CASCADE, related_name="orphans")
    first_seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["platform", "name"], name="orphan_once_per_platform")]

    def __str__(self) -> str:
        return self.name
