"""The instances of the control plane: each ticker announces its own, and the manager loop gives each its deployments.

An instance is a name, not a process: its rounds may run in any worker that shares the queue. Two tickers of one name
are one instance (each round is claimed once); two machines have two names unless IRIS_INSTANCE says otherwise.
"""

from datetime import datetime, timedelta

from django.conf import settings

from scaling.models import Instance

# Tickers announce themselves every ten seconds; one that is silent this long has ended.
SILENT = timedelta(seconds=60)


def announce(name: str, now: datetime) -> None:
    """Say that the instance lives, and how many deployments it may hold."""
    values = {"max_deployments": settings.LYC.max_deployments, "seen_at": now}
    Instance.objects.update_or_create(name=name, defaults=values, create_defaults={**values, "started_at": now})


def living(now: datetime) -> set[str]:
    """The names of the instances heard of lately."""
    return set(Instance.objects.filter(seen_at__gt=now - SILENT).values_list("name", flat=True))


def most_deployments(name: str) -> int:
    """How many deployments the instance may hold; 0 for one that never announced itself."""
    return Instance.objects.filter(name=name).values_list("max_deployments", flat=True).first() or 0
