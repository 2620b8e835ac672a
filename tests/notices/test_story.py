"""The whole way, over real connections: a stock-out is told once, acknowledged, cleared, and over."""

import time
from collections.abc import Callable, Iterator

import pytest

from scaling import clock, operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Notice, NoticeChannel, NoticeDelivery
from scaling.notices.watchman import Watchman
from scaling.testing import builders
from tests.notices.receivers import mail_receiver, web_receiver

pytestmark = [pytest.mark.processes, pytest.mark.one_database, pytest.mark.django_db]
DEADLINE_SECONDS = 60


@pytest.fixture
def pass_time(db: None, frozen_clock: FrozenClock) -> Iterator[Callable[[float], None]]:
    """Watch for so many seconds of the frozen clock; messages on their way arrive meanwhile."""
    watch = Watchman(clock.now())

    def passed(seconds: float) -> None:
        for _ in range(int(seconds // 5)):
            frozen_clock.advance(5)
            watch.step(clock.now())
        until = time.monotonic() + DEADLINE_SECONDS
        while NoticeDelivery.objects.filter(state="waiting", next_attempt_at__lte=clock.now()).exists() or (
            watch._courier.is_busy
        ):
            assert time.monotonic() < until, "a message did not arrive"
            watch.step(clock.now())
            time.sleep(0.02)

    yield passed
    watch.end()


def test_a_stockout_is_told_once_acknowledged_in_silence_cleared_and_over(
    pass_time: Callable[[float], None], actor: Actor, frozen_clock: FrozenClock
) -> None:
    group = builders.make_group("v5-8")
    with web_receiver() as web, mail_receiver() as mail:
        NoticeChannel.objects.create(name="chat", url=f"json://{web.host}/hook")
        NoticeChannel.objects.create(
            name="mail",
            url=f"mailto://127.0.0.1:{mail.port}?from=iris@example.com&to=ops@example.com&mode=insecure",
            tell_over=False,
        )
        pass_time(10)
        marker = builders.make_marker(group, clock.now(), kind="stockout", message="no capacity in europe-west4-a")
        pass_time(10)
        assert web.titles() == ["Stock-out: v5-8"] and "no capacity in europe-west4-a" in web.got[0][1]["message"]
        operations.acknowledge_marker(actor, marker.pk, "asked the cloud")
        pass_time(120)
        assert web.titles() == ["Stock-out: v5-8"]
        operations.clear_marker(actor, marker.pk, "they have some again")
        pass_time(90)
        assert web.titles() == ["Stock-out: v5-8", "Over: Stock-out: v5-8"]
        assert len({body["id"] for _, body in web.got}) == 2
    assert [letter["subject"] for letter in mail.got] == ["Stock-out: v5-8"]
    assert set(NoticeDelivery.objects.values_list("state", flat=True)) == {"sent"}
    assert not Notice.objects.filter(over_at=None).exists()
