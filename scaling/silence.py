"""When a worker that sends heartbeats counts as silent: by when Iris last heard it, whatever its own clock says."""

from datetime import datetime, timedelta

from scaling.models import Loop, Worker

# Workers are asked to send one every 10 s: several lost in a row are silence, one is a blip.
SILENT_AFTER_SECONDS = 45.0
_SILENT_AFTER = timedelta(seconds=SILENT_AFTER_SECONDS)


def heard_since(now: datetime) -> datetime:
    """Who was last heard before this moment is silent at `now`."""
    return now - _SILENT_AFTER


def was_away(now: datetime) -> bool:
    """Whether Iris itself did not look for so long that it cannot tell silence from its own absence."""
    looked_at = Loop.objects.filter(name="workers").values_list("last_finished_at", flat=True).first()
    return looked_at is not None and looked_at < heard_since(now)


def is_silent(worker: Worker, now: datetime) -> bool:
    """One that never sent a heartbeat cannot be silent."""
    return worker.heard_at is not None and worker.heard_at < heard_since(now)


def fell_silent(worker: Worker) -> bool:
    """Whether it is UNKNOWN for its silence, and not because its platform says so while it goes on reporting."""
    return worker.state == Worker.State.UNKNOWN and (
        worker.unknown_since is not None and is_silent(worker, worker.unknown_since)
    )
