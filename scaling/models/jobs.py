"""Demand: jobs as their schedulers told them, and the tasks that were placed."""

from django.db import models

from scaling.models.slices import Worker


class Job(models.Model):
    """A job of one source. `spec` is the accepted request; the columns beside it are what lists and loops select by.

    `tasks` = all of them; `pending_tasks` wait for a worker. Task rows exist only for tasks that were placed.
    """

    class State(models.TextChoices):
        PENDING = "pending"
        RUNNING = "running"
        DONE = "done"
        CANCELLED = "cancelled"

    source = models.CharField(max_length=100)
    job_id = models.CharField(max_length=200)
    spec = models.JSONField()
    spec_hash = models.CharField(max_length=64, db_index=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    tier = models.CharField(max_length=12, default="standard")
    priority = models.IntegerField(default=100)
    gang = models.BooleanField(default=False)
    tasks = models.PositiveIntegerField(default=1)
    pending_tasks = models.PositiveIntegerField(default=1)
    running_tasks = models.PositiveIntegerField(default=0)
    done_tasks = models.PositiveIntegerField(default=0)
    run_seconds = models.FloatField(null=True, blank=True, help_text="How long a task runs on a simulated worker.")
    submitted_at = models.DateTimeField()
    received_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-priority", "submitted_at", "job_id")
        constraints = [models.UniqueConstraint(fields=["source", "job_id"], name="job_once_per_source")]
        indexes = [
            models.Index(fields=["state", "-priority", "submitted_at", "job_id"]),
            models.Index(fields=["job_id"]),
        ]

    def __str__(self) -> str:
        return self.job_id


class Task(models.Model):
    """One task that was given a worker. `assigned` (told to the worker, building) and `running` are activity.

    `slice_name` is where it runs or ran: workers go with their slices, and the job's story stays.
    """

    class State(models.TextChoices):
        ASSIGNED = "assigned"
        RUNNING = "running"
        DONE = "done"
        LOST = "lost"

    ACTIVE = (State.ASSIGNED, State.RUNNING)

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="task_rows")
    worker = models.ForeignKey(Worker, null=True, on_delete=models.SET_NULL, related_name="tasks")
    slice_name = models.CharField(max_length=63, blank=True, default="")
    state = models.CharField(max_length=10, choices=State.choices, default=State.ASSIGNED)
    cpu = models.FloatField(default=0)
    memory = models.BigIntegerField(default=0)
    disk = models.BigIntegerField(default=0)
    devices = models.FloatField(default=0)
    assigned_at = models.DateTimeField()
    ends_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        indexes = [
            models.Index(fields=["state", "ends_at"]),
            models.Index(fields=["worker", "state"]),
            models.Index(fields=["ended_at"]),
        ]

    def __str__(self) -> str:
        return f"{self.job.job_id} #{self.pk}"
