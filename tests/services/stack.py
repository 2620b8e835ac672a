"""The web as browsers meet it, on the test database: uvicorn in a thread, and real processes beside it on request."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import uvicorn
from django.conf import settings
from django.db import connection, connections

ROOT = Path(__file__).resolve().parents[2]


class ProcessStack:
    """Processes of Iris on this run's database: `start("ticker", "qcluster")`, killed by `stop()`."""

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self, *commands: str) -> None:
        """Start `manage.py <command>` for each, on the same database and data folder."""
        for command in commands:
            self._processes.append(
                subprocess.Popen(
                    [sys.executable, "manage.py", *command.split()],
                    cwd=ROOT,
                    env=os.environ | process_environment(),
                    stdin=subprocess.DEVNULL,
                    start_new_session=True,
                )
            )

    def stop(self) -> None:
        """Kill what `start` started, with all its descendants."""
        while self._processes:
            process = self._processes.pop()
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait()


class LiveStack(ProcessStack):
    """`url` answers pages, API and websockets; `start("ticker", "qcluster")` adds processes until the test ends."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url

    @property
    def websocket_url(self) -> str:
        return self.url.replace("http://", "ws://", 1)


def process_environment() -> dict[str, str]:
    """What another process needs to work on this test run's database, data folder and keys."""
    return {
        "DATABASE_URL": database_url(),
        "IRIS_STATE_DIR": str(settings.STATE_DIR),
        "IRIS_SECRET_KEY": settings.SECRET_KEY,
    }


def database_url() -> str:
    """The URL of the database that the tests of this run use."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    return f"postgres://{database['USER']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"


@pytest.fixture(scope="session")
def live_server_thread(django_db_setup: None) -> Iterator[str]:
    """One uvicorn for the whole run, on a free port; stopped before the test database goes."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config("iris_web.asgi:application", lifespan="off", log_level="warning", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="live-server", daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            pytest.fail("the web server of the tests did not start", pytrace=False)
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = server.force_exit = True
    thread.join(10)
    listener.close()
    connections.close_all()


@pytest.fixture
def live_stack(live_server_thread: str, transactional_db: None) -> Iterator[LiveStack]:
    """The web on the (transactional) test database, for browser and websocket tests."""
    stack = LiveStack(live_server_thread)
    try:
        yield stack
    finally:
        stack.stop()
