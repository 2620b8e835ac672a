"""A small process that outlives its supervisor: when that dies, it ends the process groups the supervisor had started.

Run as a script on the bare standard library. Each line on its standard input is `+<group>` or `-<group>`; the end of
the input means that the supervisor is gone, however it went.
"""

import os
import signal
import sys
import time
from collections.abc import Iterable

GRACE_SECONDS = 1.5


def read_groups(lines: Iterable[str]) -> set[int]:
    """The groups that are still alive when the input ends."""
    groups: set[int] = set()
    for line in lines:
        sign, number = line[:1], line[1:].strip()
        if number.isdigit():
            (groups.add if sign == "+" else groups.discard)(int(number))
    return groups


def send(groups: set[int], number: int) -> set[int]:
    """Signal each group; returns those that exist."""
    alive: set[int] = set()
    for group in groups:
        try:
            os.killpg(group, number)
            alive.add(group)
        except (ProcessLookupError, PermissionError):
            continue
    return alive


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)
    groups = send(read_groups(sys.stdin), signal.SIGTERM)
    deadline = time.monotonic() + GRACE_SECONDS
    while groups and time.monotonic() < deadline:
        time.sleep(0.05)
        groups = send(groups, 0)
    send(groups, signal.SIGKILL)


if __name__ == "__main__":
    main()
