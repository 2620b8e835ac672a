"""Which processes of this machine live."""

import os
from pathlib import Path

# States in /proc of a process that is dead, and that its parent has not buried yet.
_DEAD_STATES = frozenset("ZXx")


def lives(pid: int) -> bool:
    """Whether a process of that id runs here; one that is dead and only not buried yet does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        # Somebody else's, so there is one.
        pass
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        # It ended since, or this system has no /proc.
        return not Path("/proc/self/stat").exists()
    return stat.rpartition(")")[2].strip()[:1] not in _DEAD_STATES
