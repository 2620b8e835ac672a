"""Platforms that slices are bought from, and what is known of reaching them."""

from django.db import models


class Platform(models.Model):
    """A provisioner by name. `observe`: plans are made and shown, nothing is sent; `act`: they are carried out."""

    class Mode(models.TextChoices):
        OBSERVE = "observe", "observe"
        ACT = "act", "act"

    name = models.CharField(max_length=50, unique=True)
    kind = models.CharField(
        max_length=20,
        default="simulated",
        choices=[("simulated", "simulated"), ("local", "local"), ("gcp", "gcp"), ("coreweave", "coreweave")],
    )
    # True where the provisioner of that kind is not built or not configured: its slices come from the simulated cloud.
    simulated = models.BooleanField(default=False)
    mode = models.CharField(max_length=8, choices=Mode.choices, default=Mode.OBSERVE)
    label_prefix = models.CharField(max_length=30, default="iris", help_text="Begins the names of its slices.")
    options = models.JSONField(default=dict, blank=True)
    aborts_in_a_row = models.PositiveIntegerField(default=0, editable=False)
    unreachable_since = models.DateTimeField(null=True, blank=True, editable=False)
    last_error = models.TextField(blank=True, default="", editable=False)
    listed_at = models.DateTimeField(null=True, blank=True, editable=False)
    version = models.PositiveIntegerField(default=1, editable=False)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    @property
    def is_simulated(self) -> bool:
        """Whether its slices come from the simulated cloud, and its jobs are run by the built-in scheduler."""
        return self.kind == "simulated" or self.simulated
