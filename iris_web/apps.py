"""The web part as a Django app: pages, API, live updates."""

from django.apps import AppConfig


class IrisWebConfig(AppConfig):
    name = "iris_web"
    verbose_name = "Iris web"
