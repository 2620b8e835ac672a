"""Seals, when the installation stops, what no round of the seal loop has come to."""

import logging
import threading
import time

from django.db import connection

from scaling import clock
from scaling.audit import sealing
from scaling.stopping import StopRequest

logger = logging.getLogger(__name__)

# So long at the longest, and not longer after the request to stop, since a stop may take three seconds. What is left
# then is sealed after the next start.
LAST_SEAL_SECONDS = 0.8
STOPPED_WITHIN_SECONDS = 2.2
_LOOK_SECONDS = 0.05


def seal_the_rest(stop: StopRequest) -> None:
    """Seal what is settled, as long as there is time, and not when told twice to stop.

    In a thread, since a database that is locked or away may be waited for far longer than there is time; a seal that it
    had begun is rolled back with the process.
    """
    deadline = min(time.monotonic() + LAST_SEAL_SECONDS, stop.made_at + STOPPED_WITHIN_SECONDS)
    sealer = threading.Thread(target=_seal, name="last-seal", daemon=True)
    sealer.start()
    while sealer.is_alive() and stop.times < 2 and time.monotonic() < deadline:
        sealer.join(_LOOK_SECONDS)
    if sealer.is_alive():
        logger.warning("not everything may be sealed at the stop")


def _seal() -> None:
    try:
        sealing.run(clock.now(), budget_seconds=LAST_SEAL_SECONDS / 2, patience_seconds=LAST_SEAL_SECONDS / 4)
        if sealing.is_behind():
            # For want of time, or of an end of what others were still writing.
            logger.warning("not everything is sealed at the stop")
    except Exception:
        logger.exception("sealing at the stop failed")
    finally:
        connection.close()
