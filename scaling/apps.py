"""The control plane as a Django app."""

from django.apps import AppConfig


class ScalingConfig(AppConfig):
    name = "scaling"
    verbose_name = "Iris"
    default_auto_field = "django.db.models.BigAutoField"
