"""A throwaway PostgreSQL server: empty, without durability, gone at the end."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from tests.services.programs import ServiceError, find, folder, free_port, running, unprivileged

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "timezone": "UTC",
}


@contextmanager
def postgres() -> Iterator[str]:
    """Yields the URL of a database `iris` whose user may make more databases beside it."""
    initdb = find("initdb", "/usr/lib/postgresql/*/bin/initdb")
    server = find("postgres", "/usr/lib/postgresql/*/bin/postgres")
    owner = unprivileged()
    with folder("iris-postgres-", owner) as base:
        data, port = base / "data", free_port()
        made = subprocess.run(
            [initdb, "-D", data, "-U", "iris", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"],
            capture_output=True,
            text=True,
            cwd=base,
            **owner,  # type: ignore[arg-type]
        )
        if made.returncode:
            raise ServiceError(f"initdb: {made.stderr[-2000:]}")
        options = [part for key, value in SETTINGS.items() for part in ("-c", f"{key}={value}")]
        command = [server, "-D", str(data), "-p", str(port), "-k", str(base), *options]
        url = f"postgres://iris@127.0.0.1:{port}"
        with running("PostgreSQL", command, base / "log", lambda: _accepts(f"{url}/postgres"), owner=owner):
            with psycopg.connect(f"{url}/postgres", autocommit=True) as connection:
                connection.execute("CREATE DATABASE iris")
            yield f"{url}/iris"


def _accepts(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=1).close()
    except psycopg.OperationalError:
        return False
    return True
