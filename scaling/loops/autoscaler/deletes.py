"""The task that tells a platform to end slices. A delete of what is gone already is success."""

import logging
from collections.abc import Sequence

from django.db import transaction

from scaling import clock, feed, history
from scaling.loops.autoscaler import calls
from scaling.loops.queue import enqueue
from scaling.models import Installation, Platform, Slice
from scaling.platforms.base import PlatformError, Provisioner, SliceNotFoundError
from scaling.platforms.registry import provisioner

logger = logging.getLogger("scaling.autoscaler")


def send_deletes(platform: str, names: Sequence[str]) -> None:
    """Tell `platform` to end a wave of `names`; the rest is the next task's. What fails, a later cycle asks again."""
    row = Platform.objects.get(name=platform)
    if row.mode != Platform.Mode.ACT or Installation.objects.filter(halted_since__isnull=False).exists():
        return
    client, identity = provisioner(row), Installation.objects.values_list("identity", flat=True).get()
    for name, words in calls.side_by_side(lambda name: _ask(client, name, identity), names[: calls.WAVE]):
        if words:
            _save_failure(name, words)
        else:
            _save(name)
    if len(names) > calls.WAVE:
        enqueue(send_deletes, platform, list(names[calls.WAVE :]))


def _ask(client: Provisioner, name: str, identity: str) -> str:
    """Empty when the platform is ending the slice, or has no such slice; else its words."""
    try:
        client.delete_slice(name, identity)
    except SliceNotFoundError:
        return ""
    except PlatformError as error:
        return str(error) or type(error).__name__
    except Exception as error:
        logger.exception("delete call failed in the client", extra={"slice": name})
        return f"{type(error).__name__}: {error}"
    return ""


def _save(name: str) -> None:
    with transaction.atomic():
        going = Slice.objects.filter(name=name, state__in=(Slice.State.DRAINING, Slice.State.TERMINATING))
        if going.update(state=Slice.State.TERMINATING, delete_asked_at=clock.now(), error=""):
            _publish(name)


def _save_failure(name: str, words: str) -> None:
    """One action for each new error of a slice, not one for each attempt."""
    with transaction.atomic():
        changed = Slice.objects.filter(name=name, state__in=Slice.LIVE).exclude(error=words)
        row = changed.select_related("group").first()
        if row is None or not changed.update(error=words):
            return
        history.record("delete_failed", group=row.group.name, slice=name, reason=words, outcome="failed")
        _publish(name)


def _publish(name: str) -> None:
    row = Slice.objects.select_related("group").get(name=name)
    topics = (f"slice:{name}", f"group:{row.group.name}", "slices", "overview")
    feed.publish_many((topic, "slice", {"name": name, "state": row.state}) for topic in topics)
