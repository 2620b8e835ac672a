"""API tokens: one role each, shown once, stored hashed."""

from django.db import models


class ApiToken(models.Model):
    """`prefix` finds the row, `digest` proves the secret (SHA-256 of a random 256-bit token).

    `scope`: the demand source of a `scheduler` token or the worker of a `worker` token.
    """

    class Role(models.TextChoices):
        """Told as the roles of people are: in the words that are stored."""

        VIEWER = "viewer", "viewer"
        OPERATOR = "operator", "operator"
        ADMIN = "admin", "admin"
        SCHEDULER = "scheduler", "scheduler"
        WORKER = "worker", "worker"

    name = models.CharField(max_length=100, unique=True)
    prefix = models.CharField(max_length=12, unique=True)
    digest = models.CharField(max_length=64)
    role = models.CharField(max_length=10, choices=Role.choices)
    scope = models.CharField(max_length=200, blank=True, default="")
    created_by = models.CharField(max_length=150, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("name",)
        verbose_name = "API token"

    def __str__(self) -> str:
        return self.name
