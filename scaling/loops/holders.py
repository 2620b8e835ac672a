"""Processes as holders of leases, named so that another process of the same machine can tell that one is dead.

A killed holder's lease then need not run out first. What cannot be told for certain counts as alive, and even a wrong
verdict would be harmless: the next holder's larger fencing token shuts the old one out.
"""

import logging
import os
import socket
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from scaling.loops import leases
from scaling.loops.leases import Held
from scaling.loops.processes import lives
from scaling.models import Lease

logger = logging.getLogger(__name__)

_HOST_CHARACTERS = 60


def me() -> str:
    """This process: host, kernel, process id. Asked for anew each time, since workers are forks of their parent."""
    return f"{socket.gethostname()[:_HOST_CHARACTERS]}:{_kernel()}:{os.getpid()}"


def is_dead(holder: str) -> bool:
    """Whether `holder` was a process under this very kernel, in our own space of process ids, and is no more."""
    where, _, pid = holder.rpartition(":")
    if not _kernel() or where != me().rpartition(":")[0] or not pid.isdecimal():
        return False
    return not lives(int(pid))


def take(name: str, ttl_seconds: float, now: datetime) -> Held | None:
    """The lease for this process, at once where its holder is dead; None while another holds it."""
    held = leases.hold(name, me(), ttl_seconds, now)
    if held is not None:
        return held
    holder = Lease.objects.filter(name=name).values_list("holder", flat=True).first() or ""
    if not is_dead(holder) or not leases.end(name, holder, now):
        return None
    logger.info("lease taken from a dead process", extra={"lease": name, "holder": holder})
    return leases.hold(name, me(), ttl_seconds, now)


@lru_cache(maxsize=1)
def _kernel() -> str:
    """This boot of this kernel and our space of process ids; "" where the system tells neither (not Linux)."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
        return f"{boot}-{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""
