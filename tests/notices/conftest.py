"""What the tests of stored notices share."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from scaling import clock
from scaling.clock import FrozenClock
from scaling.models import NoticeChannel, NoticeDelivery
from scaling.notices import keeping, options

Look = Callable[[], int]


@pytest.fixture
def now(frozen_clock: FrozenClock) -> datetime:
    return clock.now()


@pytest.fixture
def channel(db: None) -> NoticeChannel:
    return NoticeChannel.objects.create(name="on-call", url="json://127.0.0.1:9/secret", masked="json://127.0.0.1:9/…")


@pytest.fixture
def look(db: None, frozen_clock: FrozenClock) -> Iterator[Look]:
    """One look now, by somebody who has watched for a day."""
    since = clock.now() - timedelta(days=1)
    yield lambda: keeping.look(clock.now(), since, options.read())


def titles(**chosen: Any) -> list[str]:
    """The titles of all messages, in order."""
    return list(NoticeDelivery.objects.filter(**chosen).order_by("id").values_list("title", flat=True))
