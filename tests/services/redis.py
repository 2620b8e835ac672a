"""A throwaway Redis server that keeps nothing."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.services.programs import find, folder, free_port, listens, running


@contextmanager
def redis() -> Iterator[str]:
    """Yields the URL of an empty server."""
    server = find("redis-server")
    with folder("iris-redis-") as base:
        port = free_port()
        command = [server, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(base)]
        command += ["--save", "", "--appendonly", "no", "--daemonize", "no"]
        with running("Redis", command, base / "log", lambda: listens(port)):
            yield f"redis://127.0.0.1:{port}/0"
