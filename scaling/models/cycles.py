"""Cycles of the group autoscaler and the record each group's page shows."""

from django.db import models

from scaling.models.groups import Group


class Cycle(models.Model):
    """One pass of the seven steps. `counts` holds totals: requested, released, deferred, hints, jobs_pending ..."""

    class Status(models.TextChoices):
        OK = "ok"
        ABORTED = "aborted"

    started_at = models.DateTimeField(db_index=True)
    status = models.CharField(max_length=8, choices=Status.choices)
    reason = models.TextField(blank=True, default="")
    duration_ms = models.FloatField(default=0)
    plan_ms = models.FloatField(default=0)
    fencing_token = models.BigIntegerField(default=0)
    counts = models.JSONField(default=dict)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"cycle {self.pk} {self.status}"


class GroupStatus(models.Model):
    """What the last complete cycle found of a group; pages, API and metrics show this record.

    The part that markers and people's orders decide (outcome, detail, checks and the two ends) follows them between
    cycles too: see scaling.marker_checks and scaling.order_checks. Only that cycle itself used the record as it left
    it.

    `checks` is a list of {outcome, blocked, detail} in the order of the filter chain; `slices` counts by state.
    """

    group = models.OneToOneField(Group, on_delete=models.CASCADE, related_name="status", primary_key=True)
    cycle = models.ForeignKey(Cycle, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField()
    outcome = models.CharField(max_length=24)
    detail = models.TextField(blank=True, default="")
    checks = models.JSONField(default=list)
    assigned = models.PositiveIntegerField(default=0)
    deficit = models.PositiveIntegerField(default=0)
    scale_up = models.PositiveIntegerField(default=0)
    scale_down = models.PositiveIntegerField(default=0)
    target = models.PositiveIntegerField(default=0)
    used = models.PositiveIntegerField(default=0)
    capacity_remaining = models.IntegerField(default=0)
    quota_remaining = models.IntegerField(null=True, blank=True)
    backoff_expires_at = models.DateTimeField(null=True, blank=True)
    stockout_until = models.DateTimeField(null=True, blank=True)
    backoff_skipped_total = models.PositiveBigIntegerField(default=0)
    slices = models.JSONField(default=dict)
    # The maximum that the evaluation was made with; None before the first one that stored it.
    max_slices = models.PositiveIntegerField(null=True, blank=True)
    # Jobs whose hints name it among what blocks them, and their tasks; no other group fits those `alone`.
    waiting_jobs = models.PositiveIntegerField(default=0)
    waiting_tasks = models.PositiveIntegerField(default=0)
    waiting_alone = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.group_id}: {self.outcome}"


class GroupSample(models.Model):
    """What the last cycle of a minute saw of a group, in slices; kept where it differs from the cycle before.

    None: from here on nothing is known, since no cycle came.

    `at` is the beginning of that minute; `demand` is what the work placed here needs (`used` of AUTOSCALER section 3).
    """

    # The constraint's index begins with it.
    group = models.ForeignKey(Group, on_delete=models.CASCADE, related_name="samples", db_index=False)
    at = models.DateTimeField(db_index=True)
    ready = models.PositiveIntegerField(null=True)
    in_flight = models.PositiveIntegerField(null=True)
    demand = models.PositiveIntegerField(null=True)
    max_slices = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "at"], name="group_sample_once_a_minute")]

    def __str__(self) -> str:
        return f"sample {self.pk}"


class GroupMemory(models.Model):
    """What the planner must remember of a group between cycles and nobody edits.

    Back-off count (it outlives the marker) and token buckets: `*_tokens` slices left at `*_at`, negative = in debt.
    """

    group = models.OneToOneField(Group, on_delete=models.CASCADE, related_name="memory", primary_key=True)
    backoff_failures = models.PositiveIntegerField(default=0)
    backoff_last_failure_at = models.DateTimeField(null=True, blank=True)
    up_tokens = models.FloatField(null=True, blank=True)
    up_at = models.DateTimeField(null=True, blank=True)
    down_tokens = models.FloatField(null=True, blank=True)
    down_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"memory of {self.group_id}"
