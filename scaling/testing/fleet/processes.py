"""The fleet's replicas as real processes: started, told their counters, watched, and ended with the fleet."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from scaling.testing.fleet.fleet import Fleet, FleetReplica, ReplicaStatus

ROOT = Path(__file__).resolve().parents[3]
# Told each tick; one that has not answered for so many is taken to hang.
MISSED_ANSWERS = 3
STOP_SECONDS = 5.0


@dataclass(slots=True)
class Process:
    """Our end of one replica's channel."""

    channel: socket.socket
    unanswered: int = 0
    has_ended: bool = False

    def tell(self, replica: FleetReplica) -> None:
        """Give it its histogram; a process that does not read is not waited for."""
        self.unanswered += 1
        try:
            self.channel.send(json.dumps({"counters": replica.counters, "sum": replica.latency_sum_ms}).encode())
        except BlockingIOError:
            return
        except OSError:
            self.has_ended = True

    def listen(self, replica: FleetReplica) -> None:
        """Take its greeting and its answers."""
        try:
            while heard := self.channel.recv(4096):
                self.unanswered = 0
                if not replica.address:
                    greeting = json.loads(heard)
                    replica.address, replica.pid = f"127.0.0.1:{greeting['port']}", greeting["pid"]
            self.has_ended = True
        except BlockingIOError:
            return
        except OSError:
            self.has_ended = True


class ReplicaProcesses:
    """One process for each replica that the fleet has and that has not failed."""

    def __init__(self) -> None:
        self._processes: dict[str, Process] = {}
        self._start_nursery()

    def _start_nursery(self) -> None:
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._nursery = subprocess.Popen(  # noqa: S603 - a module of our own
                [sys.executable, "-m", "scaling.testing.fleet.nursery", str(theirs.fileno())],
                cwd=ROOT,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )

    def follow(self, fleet: Fleet) -> None:
        """After each step of the fleet: start, tell, listen, end. A process that has ended is a failed replica."""
        if self._nursery.poll() is not None:
            self._orders.close()
            self._start_nursery()
        wanted = dict(_with_process(fleet))
        for replica_id in self._processes.keys() - wanted.keys():
            self._end(replica_id)
        for replica_id, (deployment_id, replica) in wanted.items():
            process = self._processes.get(replica_id) or self._start(replica_id, deployment_id)
            process.listen(replica)
            process.tell(replica)
            replica.hangs = process.unanswered > MISSED_ANSWERS
            if process.has_ended:
                fleet.fail(replica)
                self._end(replica_id)

    def close(self) -> None:
        for replica_id in list(self._processes):
            self._end(replica_id)
        self._orders.close()
        try:
            self._nursery.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._nursery.kill()
            self._nursery.wait()

    def _start(self, replica_id: str, deployment_id: str) -> Process:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        # A nursery that has just died leaves the channel without another end: the replica fails, as it would have.
        with theirs, suppress(OSError):
            socket.send_fds(self._orders, [deployment_id.encode()], [theirs.fileno()])
        self._processes[replica_id] = Process(ours)
        return self._processes[replica_id]

    def _end(self, replica_id: str) -> None:
        self._processes.pop(replica_id).channel.close()


def _with_process(fleet: Fleet) -> Iterator[tuple[str, tuple[str, FleetReplica]]]:
    for deployment in fleet.deployments.values():
        for replica in deployment.replicas.values():
            if replica.status is not ReplicaStatus.FAILED:
                yield replica.id, (deployment.spec.id, replica)
