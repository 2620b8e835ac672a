"""`manage.py cloud`: an operator of the demonstration makes the simulated cloud misbehave."""

import io

import pytest
from django.core.management import CommandError, call_command

from scaling.models import Platform
from scaling.platforms.base import PlatformError
from scaling.platforms.registry import cloud_books, cloud_script, provisioner
from scaling.testing.builders import make_group, make_platform
from tests.platforms.conftest import request

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("cloud", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def platform() -> Platform:
    made: Platform = make_platform("command-cloud")
    for zone in ("us-central1-a", "europe-west4-b"):
        make_group(zone, platform=made, zone=zone)
    cloud_script(made).calm()
    return made


def test_a_zone_can_be_put_out_of_stock_for_a_while_and_calmed_again(platform: Platform) -> None:
    assert run("stockout", "us-central1-a", "--minutes", "5") == (
        "command-cloud: zone us-central1-a is out of stock for 5 minutes\n"
    )
    with pytest.raises(PlatformError, match="no more capacity"):
        provisioner(platform).create_slice(request("never"))
    assert "rule stockout us-central1-a, 300 s left" in run("show")
    assert run("calm") == "command-cloud: 1 rules ended\n"
    provisioner(platform).create_slice(request("later"))


def test_the_next_creates_can_be_refused_with_given_words_or_left_unanswered(platform: Platform) -> None:
    client = provisioner(platform)
    run("fail", "create", "--count", "1", "--error", "Quota of friendship exceeded")
    with pytest.raises(PlatformError, match="Quota of friendship exceeded"):
        client.create_slice(request("f-1"))
    run("fail", "list", "--count", "1")
    with pytest.raises(PlatformError, match="503"):
        client.list_slices("iris-1")
    client.create_slice(request("f-2"))


def test_a_slice_can_be_preempted_and_the_books_shown(platform: Platform) -> None:
    provisioner(platform).create_slice(request("p-1"))
    assert run("preempt", "p-1", "--worker", "1") == "command-cloud: worker 1 of p-1 has vanished\n"
    shown = run("show", "--calls", "1")
    assert "slice p-1 BOOTING in us-central1-a" in shown
    assert "create p-1 accepted" in shown
    booked = next(each for each in cloud_books(platform).slices() if each.name == "p-1")
    assert [loss.worker for loss in booked.losses][-1] == 1


def test_creates_can_be_slowed(platform: Platform) -> None:
    assert run("slow", "3", "--count", "2").endswith("the next 2 creates are answered 3 s after they took effect\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["stockout", "us-east5-a"], "ZONE: expected one of europe-west4-b, us-central1-a, got 'us-east5-a'"),
        (["preempt", "ghost"], "has no slice named ghost"),
        (["--platform", "nowhere", "show"], "expected the name of one simulated platform (there are: command-cloud)"),
        (["stockout", "z", "--minutes", "-3"], "expected a number, 0 or more, got '-3'"),
        (["fail", "create", "--count", "many"], "expected a whole number, 0 or more, got 'many'"),
    ],
)
def test_a_mistake_is_one_clear_sentence(platform: Platform, arguments: list[str], told: str) -> None:
    with pytest.raises(CommandError) as caught:
        run(*arguments)
    assert told in str(caught.value)


def test_with_several_simulated_clouds_one_must_be_named(platform: Platform) -> None:
    make_platform("other-cloud")
    with pytest.raises(CommandError, match="there are: command-cloud, other-cloud"):
        run("show")
    assert run("--platform", "other-cloud", "show").startswith("other-cloud: 0 live slices")
