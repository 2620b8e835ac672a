"""Queues what a cycle decided to ask of platforms, in the transaction that stored it."""

from collections import defaultdict

from scaling.autoscaler.models import CycleResult
from scaling.loops import queue
from scaling.loops.autoscaler.creates import send_creates
from scaling.loops.autoscaler.deletes import send_deletes


def enqueue(result: CycleResult) -> None:
    """One task per platform for its creates, and one for its deletes."""
    for platform in sorted({intent.platform for intent in result.creates}):
        queue.enqueue(send_creates, platform)
    by_platform: defaultdict[str, list[str]] = defaultdict(list)
    for intent in result.deletes:
        by_platform[intent.platform].append(intent.name)
    for platform, names in sorted(by_platform.items()):
        queue.enqueue(send_deletes, platform, names)
