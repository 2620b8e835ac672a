"""The append-only history of who or what did which act."""

from django.db import models
from django.db.models import Q

from scaling.append_only import AppendOnlyManager

# Kinds that are written again and again while nothing happens that a person would want to know: lists leave them out
# until someone asks. The history's indexes are made for exactly these; another list needs a migration.
ROUTINE_KINDS = ("demand", "deferred")


class ActorKind(models.TextChoices):
    SYSTEM = "system"
    USER = "user"
    TOKEN = "token"  # noqa: S105 - the word for an API client, not a secret


class Source(models.TextChoices):
    CYCLE = "cycle"
    PAGE = "page"
    ADMIN = "admin"
    API = "api"
    SHELL = "shell"


class Action(models.Model):
    """One act and its outcome. Rows are never changed or removed: a database trigger refuses both.

    `kind` is a word of AUTOSCALER section 9 (scale_up, slice_ready, marker_set ...) or an operator act (drain,
    set_limits ...). `cause` is the action this one followed from.
    """

    at = models.DateTimeField(db_index=True)
    kind = models.CharField(max_length=40)
    actor_kind = models.CharField(max_length=8, choices=ActorKind.choices, default=ActorKind.SYSTEM)
    actor = models.CharField(max_length=150, default="iris")
    source = models.CharField(max_length=8, choices=Source.choices, default=Source.CYCLE)
    group = models.CharField(max_length=200, blank=True, default="")
    slice = models.CharField(max_length=63, blank=True, default="")
    job = models.CharField(max_length=200, blank=True, default="")
    target = models.CharField(
        max_length=200, blank=True, default="", help_text="What else it acted on: pool, token, platform."
    )
    reason = models.TextField(blank=True, default="")
    outcome = models.CharField(max_length=12, default="ok", help_text="ok, failed, refused or observed.")
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField(null=True, blank=True)
    # Without a constraint in the database: a cause may have left into an archive.
    cause = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.DO_NOTHING, related_name="effects", db_constraint=False
    )
    cycle = models.BigIntegerField(null=True, blank=True)

    objects = AppendOnlyManager()

    class Meta:
        ordering = ("-id",)
        indexes = [
            models.Index(fields=["kind", "-id"]),
            models.Index(fields=["group", "-id"]),
            models.Index(fields=["slice", "-id"]),
            models.Index(fields=["job", "-id"]),
            models.Index(fields=["actor", "-id"]),
            models.Index(fields=["outcome", "-id"]),
            models.Index(fields=["target", "-id"]),
            models.Index(fields=["cycle", "-id"], name="action_cycle", condition=Q(cycle__isnull=False)),
            models.Index(fields=["-id"], name="action_not_routine", condition=~Q(kind__in=ROUTINE_KINDS)),
            models.Index(fields=["-id"], name="action_by_people", condition=~Q(actor_kind="system")),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.group or self.target}".strip()
