"""The control plane as a Django app."""

from django.apps import AppConfig


class ScalingConfig(AppConfig):
    name = "scaling"
    verbose_name = "Iris"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Models are ready now, and the processes of the task queue are not forked yet.
        from scaling.loops import marks

        marks.install()
