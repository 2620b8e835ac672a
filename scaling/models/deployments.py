"""Inference deployments, who scales each of them, and why each did (not) scale (REPLICAS)."""

from django.db import models
from django.db.models import Q

from scaling.models.json_members import member


class PauseDirection(models.TextChoices):
    """What a pause stops: the whole tick, every add, or every removal of a healthy replica."""

    BOTH = "both", "both"
    UP = "up", "up"
    DOWN = "down", "down"


class Deployment(models.Model):
    """A deployment as the Gateway lists it, with what operators ordered for it.

    `overrides` are settings an operator gave in place of the Gateway's, by field name; what is in force is
    `effective(name)`. `version` grows with every act, never with a sync, so an editor loses to editors only.
    """

    deployment_id = models.CharField(max_length=200, unique=True)
    name = models.CharField(max_length=200, blank=True, default="")
    status = models.CharField(max_length=50, default="running")
    min_replicas = models.PositiveIntegerField(default=0)
    max_replicas = models.PositiveIntegerField(default=0)
    target_latency_p95_ms = models.FloatField(null=True, blank=True)
    target_rps = models.FloatField(null=True, blank=True)
    # None: the Gateway says nothing of it, the constant of REPLICAS section 1 holds.
    stabilization_window_seconds = models.FloatField(null=True, blank=True)
    cooldown_seconds = models.FloatField(null=True, blank=True)
    tolerance = models.FloatField(null=True, blank=True)
    scale_up_limit = models.PositiveIntegerField(null=True, blank=True)
    last_request_at = models.DateTimeField(null=True, blank=True)
    overrides = models.JSONField(default=dict, blank=True)

    pause_direction = models.CharField(max_length=4, blank=True, default="", choices=PauseDirection.choices)
    pause_since = models.DateTimeField(null=True, blank=True)
    pause_until = models.DateTimeField(null=True, blank=True)
    pause_by = models.CharField(max_length=150, blank=True, default="")
    pause_reason = models.CharField(max_length=500, blank=True, default="")

    # An operator's "scale now": carried out by the scaler's next tick, kept until it is reached or `wanted_until`.
    wanted_replicas = models.PositiveIntegerField(null=True, blank=True)
    wanted_until = models.DateTimeField(null=True, blank=True)
    wanted_by = models.CharField(max_length=150, blank=True, default="")
    wanted_action_id = models.BigIntegerField(null=True, blank=True)

    first_seen_at = models.DateTimeField()
    # The latest whole list that named it; None of these while it is listed.
    absent_since = models.DateTimeField(null=True, blank=True)
    absent_lists = models.PositiveIntegerField(default=0)
    gone_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ("deployment_id",)

    def __str__(self) -> str:
        return self.deployment_id


class Scaler(models.Model):
    """The scaler of one deployment: its lease, its memory, and its latest tick.

    The lease is `holder` (an instance), `token` (larger with each holder) and `expires_at`. Whoever changes
    `memory` gives the `memory_version` it read and loses when that has moved: scaler and lifecycle never both act on
    one picture. `pending` is a call written before it is sent and taken away with its answer.
    """

    deployment = models.OneToOneField(Deployment, on_delete=models.CASCADE, related_name="scaler")
    holder = models.CharField(max_length=100, blank=True, default="")
    token = models.BigIntegerField(default=0)
    expires_at = models.DateTimeField(null=True, blank=True)
    free_since = models.DateTimeField(null=True, blank=True)

    memory = models.JSONField(default=dict)
    memory_version = models.BigIntegerField(default=0)
    pending = models.JSONField(null=True, blank=True)
    zero_by = models.CharField(max_length=10, blank=True, default="")

    # What the latest tick saw, for the pages: `replicas`, each a list of values (scaling.replica_rows.StoredReplica),
    # and `latest` (scaling.replicas.picture). What lists count is in columns too.
    replicas = models.JSONField(default=list)
    latest = models.JSONField(default=dict)
    state = member("latest", "state", models.CharField(max_length=30, null=True))
    gate = member("latest", "gate", models.CharField(max_length=30, null=True))
    # A JSON array of scaling.replicas.picture.Flag.
    flags = member("latest", "flags", models.CharField(max_length=100, null=True))
    ticked_at = models.DateTimeField(null=True, blank=True)
    lifecycle_acted_at = models.DateTimeField(null=True, blank=True)

    # When the latest decision was stored, and what was new in it.
    told_at = models.DateTimeField(null=True, blank=True)
    told = models.CharField(max_length=40, blank=True, default="")
    untold = models.PositiveBigIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["holder", "expires_at"], name="scaler_held")]

    def __str__(self) -> str:
        return f"scaler of {self.deployment_id}"


class ReplicaDecision(models.Model):
    """One stored tick, explained; `record` is the whole decision record (scaling.replicas.stored)."""

    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="decisions")
    at = models.DateTimeField(db_index=True)
    gate = models.CharField(max_length=30, blank=True, default="")
    bound = models.CharField(max_length=30, blank=True, default="")
    step = models.CharField(max_length=20, blank=True, default="")
    outcome = models.CharField(max_length=10, blank=True, default="")
    reason = models.CharField(max_length=500, blank=True, default="")
    healthy = models.PositiveIntegerField(null=True)
    warming = models.PositiveIntegerField(null=True)
    desired = models.PositiveIntegerField(null=True)
    add = models.PositiveIntegerField(default=0)
    stop = models.PositiveIntegerField(default=0)
    action_id = models.BigIntegerField(null=True)
    record = models.JSONField(default=dict)

    class Meta:
        ordering = ("-id",)
        indexes = [models.Index(fields=["deployment", "-id"], name="decisions_of_deployment")]

    def __str__(self) -> str:
        return f"decision {self.pk}"


class CrashedReplica(models.Model):
    """A replica that the lifecycle loop has given up: unhealthy for too long. The next tick treats it as failed."""

    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="crashed")
    replica_id = models.CharField(max_length=200)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["deployment", "replica_id"], name="crashed_once")]

    def __str__(self) -> str:
        return self.replica_id


class DeploymentSample(models.Model):
    """A point of a deployment's charts: what a tick saw. None is unknown, never zero."""

    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="samples")
    at = models.DateTimeField(db_index=True)
    p95_ms = models.FloatField(null=True)
    rps = models.FloatField(null=True)
    healthy = models.PositiveIntegerField(null=True)
    warming = models.PositiveIntegerField(null=True)
    desired = models.PositiveIntegerField(null=True)

    class Meta:
        indexes = [models.Index(fields=["deployment", "at"], name="samples_of_deployment")]

    def __str__(self) -> str:
        return f"sample {self.pk}"


class SourceState(models.Model):
    """How a source that Iris listens to answered an instance last: `gateway` or `prometheus`.

    `trouble` is empty while it answers well; `since` is when it came to be as it is; `stand_in` names a source that
    only plays the real one's part. `facts` are what is learned of it now and then, such as `last_bucket_ms`.
    """

    name = models.CharField(max_length=20)
    instance = models.CharField(max_length=60, blank=True, default="")
    trouble = models.CharField(max_length=500, blank=True, default="")
    warnings = models.JSONField(default=list)
    since = models.DateTimeField()
    asked_at = models.DateTimeField()
    ok_at = models.DateTimeField(null=True, blank=True)
    stand_in = models.CharField(max_length=100, blank=True, default="")
    facts = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="source_has_name"),
            models.UniqueConstraint(fields=["name", "instance"], name="source_once_per_instance"),
        ]

    def __str__(self) -> str:
        return self.name


class Instance(models.Model):
    """A control-plane instance: a ticker that hands out the replica loops' rounds in its own name."""

    name = models.CharField(max_length=60, unique=True)
    max_deployments = models.PositiveIntegerField()
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
