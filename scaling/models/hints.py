"""Why a job is not fully placed, rebuilt once per cycle."""

from django.db import models

from scaling.models.jobs import Job


class Hint(models.Model):
    """`reason` starts with `code`; `blocked_by`: a list of {group, outcome, until}; `since`: when the code began.

    `until` is ISO 8601 UTC or null; rows of early versions hold Unix seconds.
    """

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="hint", primary_key=True)
    code = models.CharField(max_length=24, db_index=True)
    reason = models.TextField()
    blocked_by = models.JSONField(default=list)
    since = models.DateTimeField()

    def __str__(self) -> str:
        return self.reason
