"""Queues what is to be asked of platforms, in the transaction that stored the decision.

What an earlier cycle decided, and nobody has asked because the task was lost with its worker, is queued again.
"""

from collections import defaultdict

from scaling.autoscaler.models import CycleResult, DeleteCause
from scaling.loops import queue
from scaling.loops.autoscaler import creates, deletes


def enqueue(result: CycleResult) -> None:
    """One task per platform for its creates, and one for its deletes."""
    unasked = creates.never_asked().values_list("platform__name", flat=True).order_by().distinct()
    for platform in sorted({*unasked, *(intent.platform for intent in result.creates)}):
        queue.enqueue(creates.send_creates, platform)
    swept: defaultdict[str, list[str]] = defaultdict(list)
    for intent in result.deletes:
        if intent.cause is DeleteCause.SWEPT:
            swept[intent.platform].append(intent.name)
    untold = deletes.due().values_list("platform__name", flat=True).order_by().distinct()
    for platform in sorted({*untold, *swept}):
        queue.enqueue(deletes.send_deletes, platform, swept[platform])
