"""The task queue has no place in the admin: its schedule form would run any function by name."""

from importlib import import_module

from django.contrib import admin
from django.contrib.admin.exceptions import NotRegistered
from django_q.models import Failure, OrmQ, Schedule, Success

# It registers them when it is imported, whatever was imported first.
import_module("django_q.admin")
for model in (Schedule, Success, Failure, OrmQ):
    try:
        admin.site.unregister(model)
    except NotRegistered:
        # The queue registers its table only where the database is the queue.
        continue
