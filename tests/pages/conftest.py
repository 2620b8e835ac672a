"""What the tests of pages share: a moment that stands still, and pages as text."""

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from scaling import clock
from scaling.clock import FrozenClock
from scaling.models import Group
from scaling.testing import builders

Get = Callable[..., str]


@pytest.fixture(autouse=True)
def still(frozen_clock: FrozenClock) -> FrozenClock:
    """Every test of pages runs at one moment."""
    return frozen_clock


@pytest.fixture
def now() -> datetime:
    return clock.now()


@pytest.fixture
def group(db: None, now: datetime) -> Group:
    """One evaluated group on a platform that acts."""
    builders.make_installation()
    made = builders.make_group("tpu-v5-8")
    builders.make_status(made, now)
    return made


@pytest.fixture
def see(sign_in: Callable[[str], Client]) -> Iterator[Get]:
    """`see("/groups/", role="viewer")` is the page's text, whitespace squeezed; it must answer with 200."""

    def text(path: str, role: str = "viewer", status: int = 200) -> str:
        answer = sign_in(role).get(path)
        assert answer.status_code == status, f"{path} answered {answer.status_code}"
        return words_of(answer.content.decode())

    yield text


def words_of(page: str) -> str:
    """The words of a page as a person reads them."""
    body = re.sub(r"(?s)<(script|style|head|symbol)\b.*?</\1>", " ", page)
    text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", body))).strip()
    return re.sub(r" ([,.:)])", r"\1", text)


@pytest.fixture
def gateway(settings: Any) -> None:
    """The pages as they are where a Gateway is configured."""
    settings.LYC = replace(settings.LYC, gateway_url="http://gateway", gateway_token="t")
