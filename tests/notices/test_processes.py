"""The watch in real processes: the ticker's and the web's, each enough by itself."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime

import pytest

from scaling.models import Loop
from scaling.notices.facts import WATCH
from tests.services.stack import ROOT, process_environment
from tests.supervisor.running import within

pytestmark = [pytest.mark.processes, pytest.mark.one_database, pytest.mark.django_db(transaction=True)]
DEADLINE_SECONDS = 60


@pytest.fixture
def start() -> Iterator[Callable[..., None]]:
    started: list[subprocess.Popen[bytes]] = []

    def begin(*command: str, descriptors: tuple[int, ...] = ()) -> None:
        environment = os.environ | process_environment()
        started.append(
            subprocess.Popen(
                [sys.executable, *command], cwd=ROOT, env=environment, pass_fds=descriptors, start_new_session=True
            )
        )

    yield begin
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()


def looked_at() -> datetime | None:
    return Loop.objects.filter(name=WATCH).values_list("last_finished_at", flat=True).first()


def test_a_ticker_alone_watches(start: Callable[..., None]) -> None:
    start("manage.py", "ticker")
    within(DEADLINE_SECONDS, lambda: looked_at() is not None, "a look by the ticker")


def test_a_web_process_alone_watches(start: Callable[..., None]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.set_inheritable(True)
        number = listener.fileno()
        start("-m", "scaling.supervisor.web", str(number), descriptors=(number,))
        within(DEADLINE_SECONDS, lambda: looked_at() is not None, "a look by the web process")
