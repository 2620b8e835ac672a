"""What the web keeps for itself: who a person is to a login of another house."""

from django.conf import settings
from django.db import models


class Identity(models.Model):
    """A person as a provider or proxy knows them. `subject` never changes there, while a name may go to another."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=200)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("issuer", "subject"), name="identity_once"),)

    def __str__(self) -> str:
        return f"{self.subject} of {self.issuer}"
