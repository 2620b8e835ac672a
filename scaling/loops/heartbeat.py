"""The heartbeat loop: a row that only a task of the queue writes, so that it is fresh while the queue is served."""

from datetime import datetime

from scaling.models import Heartbeat

# The loop's own name in the registry, and the row that its rounds keep fresh.
LOOP = "heartbeat"
QUEUE = "queue"


def run(now: datetime) -> None:
    """Write down that a worker ran a task at `now`."""
    Heartbeat.objects.update_or_create(name=QUEUE, defaults={"at": now})
