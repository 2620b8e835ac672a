"""A burst of messages is one start of a process for each channel, not one for each message."""

import subprocess
import time
from collections.abc import Callable

import pytest

from scaling import clock
from scaling.models import NoticeChannel, NoticeDelivery
from scaling.notices import errand
from scaling.notices.courier import Courier
from tests.notices.receivers import web_receiver

pytestmark = [pytest.mark.processes, pytest.mark.one_database, pytest.mark.django_db]
DEADLINE_SECONDS = 60


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list["subprocess.Popen[bytes]"]:
    """Every process that was started."""
    started: list[subprocess.Popen[bytes]] = []
    launch: Callable[[], subprocess.Popen[bytes]] = vars(errand)["_launch"]

    def noted() -> "subprocess.Popen[bytes]":
        started.append(launch())
        return started[-1]

    monkeypatch.setattr(errand, "_launch", noted)
    return started


def test_messages_that_wait_for_one_channel_are_sent_in_order_by_one_process(
    launched: list["subprocess.Popen[bytes]"],
) -> None:
    titles = [f"notice {number}" for number in range(5)]
    with web_receiver() as web:
        channel = NoticeChannel.objects.create(name="hook", url=f"json://{web.host}/hook")
        for title in titles:
            NoticeDelivery.objects.create(
                channel=channel, message=title, kind="new", title=title, body="b",
                next_attempt_at=clock.now(), created_at=clock.now(),
            )  # fmt: skip
        carrier = Courier(attempts=3)
        until = time.monotonic() + DEADLINE_SECONDS
        carrier.step(clock.now())
        while carrier.is_busy and time.monotonic() < until:
            time.sleep(0.01)
            carrier.step(clock.now())
        carrier.end()
        assert web.titles() == titles
    assert len(launched) == 1 and launched[0].poll() is not None
    assert set(NoticeDelivery.objects.values_list("state", flat=True)) == {"sent"}
