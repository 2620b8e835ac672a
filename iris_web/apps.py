"""The web part as a Django app (pages, API, live updates), and the admin site that asks our roles."""

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps


class IrisWebConfig(AppConfig):
    name = "iris_web"
    verbose_name = "Iris web"


class IrisAdminConfig(admin_apps.AdminConfig):
    default = False
    default_site = "iris_web.admin_site.IrisAdminSite"
