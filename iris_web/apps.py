"""The web part as a Django app (pages, API, live updates), and the admin site that asks our roles."""

from importlib import import_module

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps


class IrisWebConfig(AppConfig):
    name = "iris_web"
    verbose_name = "Iris web"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Listen to logins."""
        import_module("iris_web.login.lifetime")
        import_module("iris_web.login.throttle")


class IrisAdminConfig(admin_apps.SimpleAdminConfig):
    """What the admin shows is imported with the addresses (`iris_web.urls`): no other process needs it to start."""

    default = False
    default_site = "iris_web.admin_site.IrisAdminSite"
