"""A small process that forks replicas, so that each is cheap and none carries the fleet's threads or memory.

Run as `python -m scaling.testing.fleet.nursery FD`; each message on that socket is a deployment's id with one end of a
new replica's channel. It ends with that socket, and its replicas with it, however the fleet went.
"""

import ctypes
import os
import signal
import socket
import sys
from contextlib import suppress

from scaling.testing.fleet.replica_process import ReplicaProcess

PR_SET_PDEATHSIG = 1
LONGEST_MESSAGE = 4096


def die_with_parent(parent: int) -> None:
    """Have the kernel end this process when its parent dies; elsewhere than on Linux the channel's end does it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def main(descriptor: int) -> None:
    die_with_parent(os.getppid())
    # Ctrl-C reaches the whole foreground group; the fleet ends its replicas itself. Nobody waits for them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(fileno=descriptor) as orders:
        while True:
            message, channels, _, _ = socket.recv_fds(orders, LONGEST_MESSAGE, 1)
            if not message or not channels:
                return
            nursery = os.getpid()
            if os.fork() == 0:
                orders.close()
                die_with_parent(nursery)
                _replica(message.decode(), socket.socket(fileno=channels[0]))
            os.close(channels[0])


def _replica(deployment_id: str, channel: socket.socket) -> None:
    """Never returns: a replica must not go on as a nursery."""
    with suppress(OSError, ValueError):
        ReplicaProcess(deployment_id, channel).run()
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
