"""The built-in scheduler of simulated platforms: jobs really run to their end on the slices that the autoscaler buys.

One transaction per round: end what is over, start what can start, note who is idle since when.
"""

from datetime import datetime

from django.db import transaction

from scaling.loops.scheduler import endings, idle, placing, rows
from scaling.loops.scheduler.seen import see
from scaling.loops.scheduler.told import Told


def run(now: datetime) -> None:
    """The loop's body. A round beside another one does nothing."""
    told = Told()
    with transaction.atomic():
        if not rows.alone():
            return
        endings.finish(now, told)
        endings.lose(now, told)
        seen = see(now)
        came = placing.place(seen, now, told)
        idle.refresh(seen, came, now, told)
        told.publish()
