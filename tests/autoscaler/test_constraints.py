"""Section 1: plain words and structured constraints against groups."""

from typing import Any

import pytest

from scaling.autoscaler.constraints import parse_constraints
from scaling.autoscaler.models import ScalingGroup

GROUP = ScalingGroup(
    {
        "name": "tpu_v5-8-pool",
        "zone": "us-central1-b",
        "device_type": "tpu",
        "device_variant": "v5-8",
        "devices_per_worker": 8,
        "worker_memory": "512GiB",
        "capacity_type": "on-demand",
        "attributes": {"rack": "R7", "Floor": 3, "empty": ""},
    }
)


def holds(constraint: object, group: ScalingGroup = GROUP) -> bool:
    (found,) = parse_constraints([constraint])
    return found.holds(group)


@pytest.mark.parametrize(
    "word",
    [
        "us-central1-b",
        "US-Central1-B",
        "us_central1_b",
        "us-central1",
        "on-demand",
        "on_demand",
        "tpu",
        "TPU",
        "v5-8",
        "V5_8",
        "r7",
        "3",
        "pool",
        "8-pool",
        "tpu-v5-8-pool",
    ],
)
def test_a_plain_word_holds_for_what_the_group_is(word: str) -> None:
    assert holds(word)


@pytest.mark.parametrize("word", ["us-central", "central1", "v5", "preemptible", "poo", "rack", "gpu", "us-central1-c"])
def test_a_plain_word_never_holds_for_a_part_of_a_part(word: str) -> None:
    assert holds(word) is (word == "v5")  # `v5` is a whole part of the name


def structured(operator: str, *values: object, key: str = "rack") -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        (structured("EQ", "r7"), True),
        (structured("EQ", "r8"), False),
        (structured("eq", "R7"), True),
        (structured("NE", "r8"), True),
        (structured("NE", "r7"), False),
        (structured("IN", "r1", "r7"), True),
        (structured("IN", "r1", "r2"), False),
        (structured("EXISTS"), True),
        (structured("NOT_EXISTS"), False),
        (structured("not-exists", key="tower"), True),
        (structured("GT", 2, key="floor"), True),
        (structured("GE", 3, key="floor"), True),
        (structured("LT", 3, key="floor"), False),
        (structured("LE", "3", key="floor"), True),
        (structured("EQ", 8, key="devices_per_worker"), True),
        (structured("EQ", "on-demand", key="capacity_type"), True),
        (structured("EQ", "us-central1", key="region"), True),
        (structured("GE", "256GiB", key="worker_memory"), True),
        (structured("GE", "1TiB", key="worker_memory"), False),
        (structured("GE", 64, key="worker_cpu"), True),  # 0 is unlimited
        (structured("EQ", "simulated", key="platform"), True),
    ],
)
def test_operators_compare_fields_and_attributes(constraint: dict[str, Any], expected: bool) -> None:
    assert holds(constraint) is expected


@pytest.mark.parametrize("operator", ["EQ", "NE", "IN", "EXISTS", "GT", "GE", "LT", "LE"])
@pytest.mark.parametrize("key", ["tower", "empty", "quota_pool", "allocation_tier"])
def test_a_missing_or_empty_attribute_fails_every_operator(operator: str, key: str) -> None:
    values = [] if operator == "EXISTS" else [1]

    assert not holds(structured(operator, *values, key=key))
    assert holds(structured("NOT_EXISTS", key=key))


def test_a_zone_without_two_dashes_gives_no_region() -> None:
    bare = ScalingGroup({"name": "g", "zone": "z-1"})

    assert holds(structured("NOT_EXISTS", key="region"), bare)
    assert not holds(structured("NOT_EXISTS", key="zone"), bare)


def test_a_constraint_given_twice_counts_once() -> None:
    assert len(parse_constraints(["a", "A", "b"])) == 2
