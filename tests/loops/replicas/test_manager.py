"""Who scales what: every deployment has exactly one scaler, and what is left over is told with the remedy."""

from datetime import datetime, timedelta

import pytest
from django.db.models import QuerySet

from scaling.loops.replicas import manager
from scaling.models import Deployment, Scaler
from scaling.scalers import is_unassigned
from tests.loops.replicas.world import World


def holders(world: World) -> dict[str, int]:
    held: dict[str, int] = {}
    for row in Scaler.objects.filter(expires_at__gt=world.clock()):
        held[row.holder] = held.get(row.holder, 0) + 1
    return held


def test_three_instances_share_what_there_is_each_up_to_its_limit(world: World) -> None:
    for number in range(40):
        world.deploy(f"d{number:02}")
    world.begin("one", "two", "three", most=25)
    assert holders(world) == {"one": 25, "two": 15}


def test_a_dead_instances_deployments_move_when_its_leases_are_over(world: World) -> None:
    for number in range(10):
        world.deploy(f"d{number}")
    world.begin("one", most=10)
    world.announce("two", 10)
    world.clock.advance(29)
    world.manage("two")
    assert holders(world) == {"one": 10}
    world.clock.advance(2)
    world.manage("two")
    assert holders(world) == {"two": 10}
    assert set(Scaler.objects.values_list("token", flat=True)) == {2}


def test_a_late_round_beside_its_successor_does_not_take_more_than_the_limit(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(10):
        world.deploy(f"d{number}")
    world.announce("one", 4)
    world.sync()
    original, rounds = manager.free, list[datetime]()

    def free(now: datetime) -> QuerySet[Scaler]:
        """The successor's whole round comes while the late one looks for what is free."""
        if not rounds:
            rounds.append(now)
            world.manage("one")
        return original(now)

    monkeypatch.setattr(manager, "free", free)
    world.manage("one")
    assert holders(world) == {"one": 4}


def test_a_heartbeat_keeps_a_lease(world: World) -> None:
    world.deploy("d")
    world.begin("one")
    world.announce("two")
    world.tick("one", after=20, times=5)
    world.manage("two")
    assert holders(world) == {"one": 1}


def test_what_is_left_over_is_unassigned_after_a_while(world: World) -> None:
    for number in range(4):
        world.deploy(f"d{number}")
    world.begin("one", most=3)
    assert not Deployment.objects.filter(is_unassigned(world.clock())).exists()
    world.clock.advance(13)
    assert Deployment.objects.filter(is_unassigned(world.clock())).count() == 1
    world.announce("one", 4)
    world.tick("one", after=1)
    world.manage("one")
    assert not Deployment.objects.filter(is_unassigned(world.clock())).exists()


def test_a_lowered_limit_gives_the_surplus_back(world: World) -> None:
    for number in range(4):
        world.deploy(f"d{number}")
    world.begin("one", most=4)
    world.announce("one", 1)
    world.manage("one")
    assert holders(world) == {"one": 1}


def test_a_deployment_that_is_gone_has_no_scaler(world: World) -> None:
    world.deploy("d")
    world.begin("one")
    Deployment.objects.update(gone_at=world.clock())
    world.manage("one")
    assert holders(world) == {}


def test_an_instance_that_never_announced_itself_takes_nothing(world: World) -> None:
    world.deploy("d")
    world.begin("one", most=0)
    world.manage("stranger")
    assert holders(world) == {}


def test_a_renewal_never_brings_an_expired_lease_back(world: World) -> None:
    world.deploy("d")
    world.begin("one")
    world.clock.advance(31)
    world.tick("one", after=0)
    assert not Scaler.objects.filter(expires_at__gt=world.clock() + timedelta(seconds=1)).exists()
