"""Section 1: a group from its mapping."""

import pytest

from scaling.autoscaler.models import CapacityType, DeviceType
from scaling.autoscaler.scaling_group import GroupFieldError, ScalingGroup


def test_defaults_are_those_of_the_document() -> None:
    group = ScalingGroup({"name": "g"})

    assert (group.platform, group.zone, group.region) == ("simulated", "", "")
    assert (group.device_type, group.device_variant) == (DeviceType.CPU, "")
    assert (group.priority, group.min_slices, group.buffer_slices, group.max_slices) == (100, 0, 0, 0)
    assert (group.idle_threshold, group.drain_idle_threshold) == (300, 600)
    assert (group.scale_up_rate, group.scale_down_rate, group.provision_timeout) == (16, 32, 900)
    assert group.capacity_type is CapacityType.ON_DEMAND


@pytest.mark.parametrize(
    ("zone", "region"), [("us-central1-b", "us-central1"), ("a-b-c-d", "a-b-c"), ("z-1", ""), ("z1", ""), ("", "")]
)
def test_the_region_is_the_zone_without_its_last_part(zone: str, region: str) -> None:
    assert ScalingGroup({"name": "g", "zone": zone}).region == region


def test_a_given_region_wins() -> None:
    assert ScalingGroup({"name": "g", "zone": "us-east1-b", "region": "east"}).region == "east"


@pytest.mark.parametrize(
    ("mapping", "device"),
    [
        ({"name": "tpu-v5p-8"}, (DeviceType.TPU, "v5p-8")),
        ({"name": "gpu-H100"}, (DeviceType.GPU, "h100")),
        ({"name": "tpu-host", "device_type": "cpu"}, (DeviceType.CPU, "")),
        ({"name": "tpu-x", "device_variant": "Y"}, (DeviceType.CPU, "y")),
        ({"name": "tpu"}, (DeviceType.CPU, "")),
        ({"name": "cpu-small"}, (DeviceType.CPU, "")),
    ],
)
def test_a_group_that_gives_no_device_is_read_from_its_name(
    mapping: dict[str, object], device: tuple[DeviceType, str]
) -> None:
    group = ScalingGroup(mapping)

    assert (group.device_type, group.device_variant) == device


def test_max_workers_is_rounded_down_to_whole_slices() -> None:
    assert ScalingGroup({"name": "g", "max_workers": 11, "workers_per_slice": 4}).max_slices == 2


def test_the_drain_window_follows_the_idle_threshold_when_that_is_edited() -> None:
    group = ScalingGroup({"name": "g", "idle_threshold": 100})

    assert group.edited({"idle_threshold": 50}).drain_idle_threshold == 100
    assert group.edited({"max_workers": 3}).max_slices == 3


def test_a_slice_costs_its_devices_or_its_workers() -> None:
    assert ScalingGroup({"name": "g", "devices_per_worker": 4, "workers_per_slice": 2}).slice_cost == 8
    assert ScalingGroup({"name": "g", "workers_per_slice": 2}).slice_cost == 2


def test_a_platform_may_be_a_name_or_a_client() -> None:
    client = object()

    assert ScalingGroup({"name": "g"}, "gcp").platform == "gcp"
    assert ScalingGroup({"name": "g", "platform": "gcp"}, client).provider is client
    assert ScalingGroup({"name": "g", "platform": "gcp"}, client).platform == "gcp"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"max_slices": -1}, "max_slices: expected a whole number"),
        ({"max_slices": 1.5}, "max_slices: expected a whole number"),
        ({"max_slices": "many"}, "max_slices: expected a whole number"),
        ({"max_slices": True}, "max_slices: expected a whole number"),
        ({"workers_per_slice": 0}, "workers_per_slice: expected a whole number, 1 or more"),
        ({"device_type": "npu"}, "device_type: expected one of cpu, gpu, tpu"),
        ({"capacity_type": "spot"}, "capacity_type: expected one of"),
        ({"worker_memory": "lots"}, "worker_memory:"),
        ({"idle_threshold": -1}, "idle_threshold: expected a number, 0 or more"),
        ({"idle_threshold": float("nan")}, "idle_threshold: expected a number"),
        ({"attributes": ["a"]}, "attributes: expected a mapping"),
        ({"attributes": {"a": ["b"]}}, "attributes: expected a mapping of names to texts or numbers"),
        ({"colour": "red"}, "colour: expected one of"),
        ({"max_slices": 1, "max_workers": 1}, "not both"),
        ({"name": ""}, "name: expected a name"),
        ({"zone": 7}, "zone: expected a text"),
    ],
)
def test_a_wrong_field_is_named_with_what_was_expected(fields: dict[str, object], words: str) -> None:
    with pytest.raises(GroupFieldError) as refused:
        ScalingGroup({"name": "g"} | fields)

    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
