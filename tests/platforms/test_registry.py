"""Which client a platform gets."""

import pytest

from scaling.clock import FrozenClock
from scaling.models import Platform
from scaling.platforms.base import PlatformError
from scaling.platforms.registry import cloud_books, cloud_script, provisioner
from scaling.platforms.simulated import CallKind, SimulatedProvisioner
from tests.platforms.conftest import request

pytestmark = pytest.mark.django_db


def platform(name: str, **fields: object) -> Platform:
    return Platform(name=name, **fields)


def test_a_kind_that_is_not_built_is_one_clear_sentence() -> None:
    with pytest.raises(PlatformError, match=r"^Platform east: no client for kind coreweave; expected kind sim"):
        provisioner(platform("east", kind="coreweave"))


def test_the_simulated_cloud_stands_in_for_a_kind_when_told_to_and_speaks_its_words() -> None:
    east = platform("registry-east", kind="coreweave", simulated=True)
    client = provisioner(east)
    assert east.is_simulated
    assert isinstance(client, SimulatedProvisioner)
    cloud_script(east).stock_out()
    with pytest.raises(PlatformError, match="insufficient capacity for node pool"):
        client.create_slice(request("a"))


def test_two_platforms_have_books_of_their_own_on_the_clock_of_the_project(frozen_clock: FrozenClock) -> None:
    one, two = platform("registry-one"), platform("registry-two")
    provisioner(one).create_slice(request("a"))
    assert [booked.accepted_at for booked in cloud_books(one).slices()] == [frozen_clock().timestamp()]
    assert cloud_books(two).slices() == []


def test_the_platforms_options_say_how_its_cloud_behaves() -> None:
    options = {"project_id": "p", "simulation": {"boot_seconds": 1, "boot_spread_seconds": 0}}
    fast = platform("registry-fast", options=options)
    client = provisioner(fast)
    client.create_slice(request("a"))
    (booked,) = cloud_books(fast).slices()
    assert booked.ready_at == booked.accepted_at + 1


def test_a_wrong_option_is_named() -> None:
    with pytest.raises(PlatformError, match=r"Platform bad: options.simulation: unknown setting 'speed'"):
        provisioner(platform("bad", options={"simulation": {"speed": 2}}))


def test_a_call_never_lasts_longer_than_the_configured_time_out(settings: object) -> None:
    settings.IRIS_PLATFORM_TIMEOUT = 0.5  # type: ignore[attr-defined]
    slow = platform("registry-slow")
    cloud_script(slow).slow_down(60, CallKind.CREATE)
    with pytest.raises(PlatformError, match=r"No answer within 0.5 s"):
        provisioner(slow).create_slice(request("a"))
