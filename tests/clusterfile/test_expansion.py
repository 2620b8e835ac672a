"""What a cluster file expands to."""

from collections import Counter
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling.autoscaler.scaling_group import ScalingGroup
from scaling.clusterfile import ClusterFileError, PoolImport, read_cluster
from tests.clusterfile.files import REMOVED, real, small


def groups(changes: dict[str, Any] | None = None) -> dict[str, dict[str, Any]]:
    return {str(group["name"]): group for group in read_cluster(small(changes)).groups}


# -- the published files


def test_the_tpu_cluster_has_its_82_groups() -> None:
    found = real("iris_tpu_cluster.yaml")
    made = {str(group["name"]): group for group in found.groups}
    assert (found.name, found.platform_kind, found.label_prefix, found.cycle_seconds) == (
        "tpu-prod",
        "gcp",
        "tpuprod",
        10,
    )
    assert len(found.groups) == len(made) == 82
    assert len(found.pools) == 11
    assert Counter(group["device_type"] for group in found.groups) == {"tpu": 72, "cpu": 10}
    assert {group["idle_threshold"] for group in found.groups} == {300}
    assert made["tpu_v5p-preemptible_2048-us-east5-a"] == {
        "name": "tpu_v5p-preemptible_2048-us-east5-a",
        "platform": "gcp",
        "zone": "us-east5-a",
        "device_type": "tpu",
        "device_variant": "v5p-2048",
        "devices_per_worker": 4,
        "workers_per_slice": 256,
        "capacity_type": "preemptible",
        "worker_cpu": 208,
        "worker_memory": 448 * 10**9,
        "worker_disk": 100 * 10**9,
        "priority": 100,
        "buffer_slices": 0,
        "max_slices": 8,
        "quota_pool": "v5p-preemptible/us-east5-a",
        "allocation_tier": 9,
        "idle_threshold": 300,
    }
    serving = made["tpu_v5e-serving_8-us-west4-a"]
    assert (serving["device_variant"], serving["devices_per_worker"], serving["workers_per_slice"]) == (
        "v5litepod-8",
        8,
        1,
    )
    assert (serving["priority"], serving["allocation_tier"], serving["buffer_slices"]) == (20, 2, 2)
    reserved = made["tpu_v4-reserved_8-us-central2-b"]
    assert (reserved["capacity_type"], reserved["priority"], reserved["max_slices"]) == ("reserved", 1000, 256)
    cpu = made["cpu_vm_e2_highmem_2_ondemand-us-east1-b"]
    assert (cpu["device_type"], cpu["priority"], cpu["max_slices"], cpu["zone"]) == ("cpu", 500, 6, "us-east1-b")
    assert "quota_pool" not in cpu


def test_what_the_tpu_cluster_says_beyond_groups_is_named_by_path() -> None:
    found = real("iris_tpu_cluster.yaml")
    assert found.not_understood == (
        "defaults.worker",
        "scale_groups.cpu_vm_e2_highmem_2_ondemand.worker.cache_dir",
        "worker_provider",
    )
    assert found.platform_settings == {"project_id": "example-project"}
    assert found.templates["tpu_v4-reserved_8-us-central2-b"]["runtime_version"] == "tpu-ubuntu2204-base"


def test_the_gpu_cluster_has_fixed_cpu_and_h100_groups() -> None:
    found = real("iris_gpu_cluster.yaml")
    cpu, gpu = found.groups
    assert (found.platform_kind, found.label_prefix, found.not_understood) == ("coreweave", "gpueast", ())
    assert (cpu["name"], cpu["worker_disk"], cpu["buffer_slices"]) == ("cpu-genoa", 7_680_000_000_000, 4)
    assert (gpu["device_variant"], gpu["devices_per_worker"], gpu["max_slices"]) == ("h100", 8, 32)
    assert (gpu["platform"], gpu["region"], gpu["attributes"]) == ("coreweave", "US-EAST-02A", {"pool": "h100-8x"})


def test_the_local_cluster_is_one_group_with_defaults() -> None:
    found = real("iris_local_cluster.yaml")
    (cpu,) = found.groups
    assert (found.platform_kind, found.label_prefix, found.pools) == ("local", "iris", ())
    assert (cpu["name"], cpu["platform"], cpu["max_slices"], cpu["zone"]) == ("cpu", "local", 4, "")
    assert "idle_threshold" not in cpu


@pytest.mark.parametrize("name", ["iris_tpu_cluster.yaml", "iris_gpu_cluster.yaml", "iris_local_cluster.yaml"])
def test_the_planner_accepts_every_group_of_the_published_files(name: str) -> None:
    for group in real(name).groups:
        assert ScalingGroup(group).name == group["name"]


# -- the rules


def test_each_pool_size_and_zone_is_a_group_named_after_them() -> None:
    assert list(groups()) == [
        "tpu_serving_4-us-west4-a",
        "tpu_serving_16-us-west4-a",
        "tpu_serving_4-europe-west4-b",
        "tpu_serving_16-europe-west4-b",
        "cpu-us-west4-a",
    ]


def test_priority_and_tier_follow_the_sizes_in_ascending_order() -> None:
    made = groups()
    assert [made[f"tpu_serving_{size}-us-west4-a"]["priority"] for size in (4, 16)] == [10, 20]
    assert [made[f"tpu_serving_{size}-us-west4-a"]["allocation_tier"] for size in (4, 16)] == [1, 2]


def test_pools_are_shared_by_the_sizes_of_one_zone() -> None:
    assert read_cluster(small()).pools == (PoolImport("serving/us-west4-a"), PoolImport("serving/europe-west4-b"))


def test_binary_and_decimal_sizes_are_told_apart() -> None:
    made = groups()
    assert made["cpu-us-west4-a"]["worker_memory"] == 16 * 2**30
    assert made["tpu_serving_4-us-west4-a"]["worker_memory"] == 192 * 10**9


def test_a_scale_group_without_zones_keeps_its_name_and_takes_the_zone_of_its_template() -> None:
    changes = {"scale_groups.cpu.zones": REMOVED, "scale_groups.cpu.slice_template.gcp.zone": "us-east1-d"}
    assert groups(changes)["cpu"]["zone"] == "us-east1-d"


def test_a_max_of_zero_keeps_the_group_closed() -> None:
    assert groups({"scale_groups.cpu.max_slices": 0})["cpu-us-west4-a"]["max_slices"] == 0


def test_a_missing_max_closes_the_group_and_says_so() -> None:
    found = read_cluster(small({"scale_groups.cpu.max_slices": REMOVED}))
    assert found.groups[-1]["max_slices"] == 0
    assert "scale_groups.cpu: no max_slices is given, so the group is made closed (max_slices 0)" in found.warnings


def test_the_scale_down_delay_is_every_groups_idle_threshold() -> None:
    assert {group["idle_threshold"] for group in groups().values()} == {240}
    assert read_cluster(small()).cycle_seconds == 5


def test_the_scale_up_delay_is_understood_and_has_no_effect() -> None:
    found = read_cluster(small({"defaults.autoscaler.scale_up_delay": {"milliseconds": 60000}}))
    assert found.not_understood == ()
    assert [note.split(":")[0] for note in found.warnings] == ["defaults.autoscaler.scale_up_delay"]


def test_worker_attributes_become_the_groups_attributes_as_texts() -> None:
    made = groups({"scale_groups.cpu.worker": {"attributes": {"rack": 7, "fast": True}}})
    assert made["cpu-us-west4-a"]["attributes"] == {"rack": "7", "fast": "true"}


def test_a_scale_group_of_tpus_takes_vms_and_chips_from_the_table() -> None:
    made = groups(
        {
            "scale_groups.cpu.resources": {"device_type": "tpu", "device_variant": "v5p-32"},
            "scale_groups.cpu.num_vms": REMOVED,
        }
    )
    group = made["cpu-us-west4-a"]
    assert (group["workers_per_slice"], group["devices_per_worker"]) == (4, 4)


def test_a_scale_group_that_departs_from_the_table_is_taken_as_it_is_with_a_warning() -> None:
    found = read_cluster(small({"scale_groups.cpu.resources": {"device_type": "tpu", "device_variant": "v5p-32"}}))
    assert found.groups[-1]["workers_per_slice"] == 1
    assert "scale_groups.cpu.num_vms: v5p-32 is 4 VMs by the TPU table, not 1" in found.warnings


def test_a_scale_group_may_name_its_pool_tier_and_floor() -> None:
    changes = {"quota_pool": "cpus", "allocation_tier": 3, "min_slices": 2}
    found = read_cluster(small({f"scale_groups.cpu.{key}": value for key, value in changes.items()}))
    assert {key: found.groups[-1][key] for key in changes} == changes
    assert found.pools[-1] == PoolImport("cpus")


def test_the_platform_is_the_key_under_the_slice_template() -> None:
    made = groups({"scale_groups.cpu.slice_template": {"local": None}})
    assert made["cpu-us-west4-a"]["platform"] == "local"
    assert made["tpu_serving_4-us-west4-a"]["platform"] == "gcp"


def test_a_template_without_a_platform_takes_the_files() -> None:
    assert groups({"scale_groups.cpu.slice_template": REMOVED})["cpu-us-west4-a"]["platform"] == "gcp"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("worker_provider", {}),
        ("tpu_pools.serving.topology", "2x2"),
        ("tpu_pools.serving.sizes.4.spot", True),
        ("tpu_pools.serving.resources.device_count", 4),
        ("tpu_pools.serving.slice_template.labels", {"a": "b"}),
        ("scale_groups.cpu.weight", 3),
        ("scale_groups.cpu.resources.gpu_count", 0),
        ("platform.manual", {"hosts": []}),
        ("defaults.ssh", {"user": "root"}),
        ("defaults.autoscaler.requesting_timeout", {"milliseconds": 1}),
    ],
)
def test_an_unknown_key_is_reported_by_path_and_changes_nothing(path: str, value: object) -> None:
    found = read_cluster(small({path: value}))
    assert found.not_understood == (path,)
    assert found.groups == read_cluster(small()).groups


def test_a_date_among_the_platforms_own_settings_is_kept_as_text() -> None:
    found = read_cluster(small({"platform.gcp": {"since": date(2026, 1, 2), "mirrors": [{"eu": "a"}, 1.5, None]}}))
    assert found.platform_settings == {"since": "2026-01-02", "mirrors": [{"eu": "a"}, 1.5, None]}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12) | st.integers(), inner, max_size=3)
    ),
    max_leaves=6,
)
PATHS = st.sampled_from(
    [
        "name", "platform", "platform.gcp", "platform.label_prefix", "defaults", "defaults.autoscaler.scale_down_delay",
        "tpu_pools", "tpu_pools.serving", "tpu_pools.serving.family", "tpu_pools.serving.zones",
        "tpu_pools.serving.sizes", "tpu_pools.serving.sizes.4", "tpu_pools.serving.resources",
        "tpu_pools.serving.base_priority", "scale_groups", "scale_groups.cpu.num_vms", "scale_groups.cpu.resources",
        "scale_groups.cpu.worker", "scale_groups.cpu.priority", "scale_groups.cpu.slice_template",
        "scale_groups.cpu.max_slices", "scale_groups.cpu.quota_pool",
    ]
)  # fmt: skip


@given(PATHS, VALUES)
def test_any_value_anywhere_is_read_or_refused_in_one_sentence(path: str, value: object) -> None:
    try:
        found = read_cluster(small({path: value}))
    except ClusterFileError as refused:
        assert "\n" not in str(refused) and len(str(refused)) < 400
    else:
        assert len({group["name"] for group in found.groups}) == len(found.groups) > 0
        assert all(ScalingGroup(group) for group in found.groups)
