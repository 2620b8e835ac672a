"""The task that tells a platform to end slices: claimed one by one, told once, and the answer saved as it came.

A delete of what is gone already is success. Whatever moment the process dies at, the row still says that the slice is
to go: once the claim has run out a later task tells the platform.
"""

import logging
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from scaling import clock, feed, history
from scaling.characters import harmless
from scaling.loops.autoscaler import calls
from scaling.loops.autoscaler.claims import claim
from scaling.loops.queue import enqueue
from scaling.models import Installation, Platform, Slice
from scaling.platforms.base import PlatformError, Provisioner, SliceNotFoundError
from scaling.platforms.registry import provisioner

logger = logging.getLogger("scaling.autoscaler")


def send_deletes(platform: str, swept: Sequence[str] = ()) -> None:
    """Tell `platform` to end a wave of the slices that are to go, and of `swept` ones, of which there is no row.

    More that wait are the next task's. What fails, a later cycle asks again.
    """
    row = Platform.objects.get(name=platform)
    if row.mode != Platform.Mode.ACT or Installation.objects.filter(halted_since__isnull=False).exists():
        return
    client, identity = provisioner(row), Installation.objects.values_list("identity", flat=True).get()
    names = list(swept[: calls.WAVE])
    names += _claim(platform, calls.WAVE - len(names))
    for name, words in calls.side_by_side(lambda name: _ask(client, name, identity), names):
        if words:
            _save_failure(name, words)
        else:
            _save(name)
    left = list(swept[calls.WAVE :])
    if left or due().filter(platform__name=platform).exists():
        enqueue(send_deletes, platform, left)


def due() -> QuerySet[Slice]:
    """Slices that are to go and that nobody is telling their platform of: decided just now, or by one that died."""
    return Slice.objects.filter(
        ended_at__isnull=True,
        delete_asked_at__isnull=False,
        next_attempt_at__lte=clock.now(),
        platform__mode=Platform.Mode.ACT,
    )


def _claim(platform: str, most: int) -> list[str]:
    with transaction.atomic():
        waiting = due().filter(platform__name=platform).order_by("delete_asked_at", "name")
        return [row.name for row in claim(waiting, most)]


def _ask(client: Provisioner, name: str, identity: str) -> str:
    """Empty when the platform is ending the slice, or has no such slice; else its words."""
    try:
        client.delete_slice(name, identity)
    except SliceNotFoundError:
        return ""
    except PlatformError as error:
        return error.words
    except Exception as error:
        logger.exception("delete call failed in the client", extra={"slice": name})
        return harmless(f"{type(error).__name__}: {error}")
    return ""


def _save(name: str) -> None:
    with transaction.atomic():
        going = Slice.objects.filter(name=name, ended_at__isnull=True, delete_asked_at__isnull=False)
        told: dict[str, Any] = {"delete_asked_at": clock.now(), "next_attempt_at": None}
        released = going.filter(state__in=(Slice.State.DRAINING, Slice.State.TERMINATING))
        # Each row once: of a second update PostgreSQL checks the keys at the commit, and waits for a cycle's locks.
        if released.update(state=Slice.State.TERMINATING, error="", **told):
            _publish(name)
        else:
            going.update(**told)


def _save_failure(name: str, words: str) -> None:
    """One action for each new error of a slice, not one for each attempt."""
    with transaction.atomic():
        going = Slice.objects.filter(name=name, ended_at__isnull=True)
        changed = going.filter(state__in=Slice.LIVE).exclude(error=words)
        row = changed.select_related("group").first()
        if row is None or not changed.update(error=words, next_attempt_at=None):
            going.update(next_attempt_at=None)
            return
        history.record("delete_failed", group=row.group.name, slice=name, reason=words, outcome="failed")
        _publish(name)


def _publish(name: str) -> None:
    row = Slice.objects.select_related("group").get(name=name)
    topics = (f"slice:{name}", f"group:{row.group.name}", "slices", "overview")
    feed.publish_many((topic, "slice", {"name": name, "state": row.state}) for topic in topics)
