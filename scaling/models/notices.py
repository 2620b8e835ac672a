"""Notices: the channels they go to, what is told while it lasts, and each message on its way to a channel."""

from django.db import models
from django.db.models import Q


class NoticeChannel(models.Model):
    """Where notices go. `url` holds the secret: it is shown masked only, and never written to logs or the history.

    `kinds` are the conditions it is told of; [] means all. A channel `from_environment` has no `url`: each process
    looks the one with this `digest` up in its own IRIS_NOTICE_URLS; `seen_at`: when a process last had it.
    """

    name = models.CharField(max_length=100, unique=True)
    url = models.TextField(blank=True, default="")
    masked = models.CharField(max_length=300, blank=True, default="")
    kinds = models.JSONField(default=list, blank=True)
    enabled = models.BooleanField(default=True)
    tell_over = models.BooleanField(default=True)
    from_environment = models.BooleanField(default=False)
    digest = models.CharField(max_length=64, blank=True, default="")
    seen_at = models.DateTimeField(null=True, blank=True)
    # How it took the latest message.
    last_ok_at = models.DateTimeField(null=True, blank=True)
    last_failed_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=400, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ("from_environment", "name")
        constraints = [
            models.UniqueConstraint(fields=["digest"], condition=~Q(digest=""), name="channel_once_per_digest")
        ]

    def __str__(self) -> str:
        return self.name


class Notice(models.Model):
    """One condition on one object while it lasts: open until `over_at`.

    `told_at`: when it was last news, None while it has not lasted long enough or is silenced; which channels heard of
    it, its `tellings` say. `absent_since`: it is
    gone, but may come back. `quiet`: silenced at the latest look. `message` is the id of the latest message about it.
    """

    kind = models.CharField(max_length=30)
    object = models.CharField(max_length=200, blank=True, default="")
    title = models.CharField(max_length=300)
    text = models.TextField(blank=True, default="")
    page = models.CharField(max_length=300, blank=True, default="")
    since = models.DateTimeField()
    opened_at = models.DateTimeField()
    told_at = models.DateTimeField(null=True, blank=True)
    absent_since = models.DateTimeField(null=True, blank=True)
    over_at = models.DateTimeField(null=True, blank=True)
    quiet = models.BooleanField(default=False)
    flaps = models.PositiveIntegerField(default=0)
    message = models.CharField(max_length=32, blank=True, default="")
    acknowledged_at = models.DateTimeField(null=True, blank=True)
    acknowledged_by = models.CharField(max_length=150, blank=True, default="")
    acknowledged_note = models.CharField(max_length=1000, blank=True, default="")
    acknowledged_until = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ("-opened_at", "-id")
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "object"], condition=Q(over_at__isnull=True), name="one_open_notice_per_object"
            )
        ]
        indexes = [models.Index(fields=["over_at", "-opened_at"], name="notices_over")]

    def __str__(self) -> str:
        return self.title


class NoticeTelling(models.Model):
    """A channel that a message about a notice was made for; `heard`: it has taken one that said it holds."""

    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="tellings")
    channel = models.ForeignKey(NoticeChannel, on_delete=models.CASCADE, related_name="tellings")
    heard = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["notice", "channel"], name="telling_once_per_channel"),
        ]

    def __str__(self) -> str:
        return f"{self.notice} to {self.channel}"


class NoticeDelivery(models.Model):
    """One message for one channel, tried until it is taken or given up.

    `message` is the id that is sent along, the same in every attempt. An attempt under way has moved
    `next_attempt_at` ahead: if its process dies, the delivery is due again then. `notices`: the keys of what it is
    about, [] of a test. Dropped is what was no news any more when its turn came.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        SENT = "sent"
        GIVEN_UP = "given_up"
        DROPPED = "dropped"

    channel = models.ForeignKey(NoticeChannel, on_delete=models.CASCADE, related_name="deliveries")
    message = models.CharField(max_length=32)
    kind = models.CharField(max_length=8)
    title = models.CharField(max_length=300)
    body = models.TextField()
    notices = models.JSONField(default=list, blank=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField()
    last_error = models.CharField(max_length=400, blank=True, default="")
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=["channel", "message"], name="message_once_per_channel"),
        ]
        indexes = [
            models.Index(fields=["state", "next_attempt_at"], name="deliveries_due"),
            models.Index(fields=["created_at"], name="deliveries_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.title} to {self.channel}"
