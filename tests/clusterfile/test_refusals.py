"""What a cluster file must not say: one sentence with the path, and nothing made."""

from typing import Any

import pytest

from scaling.clusterfile import ClusterFileError, read_cluster
from tests.clusterfile.files import REMOVED, small


def refusal(content: object) -> str:
    with pytest.raises(ClusterFileError) as refused:
        read_cluster(content)
    return str(refused.value)


POOL, CPU, AUTOSCALER = "tpu_pools.serving", "scale_groups.cpu", "defaults.autoscaler"


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (f"{POOL}.family", REMOVED, "expected a TPU family such as v5e, it is missing"),
        (f"{POOL}.family", "v77", "expected one of v2, v3, v4, v5e, v5p, v6e, got 'v77'"),
        (f"{POOL}.zones", REMOVED, "expected a list of zones, it is missing"),
        (f"{POOL}.zones", "us-west4-a", "expected a list of zones, got 'us-west4-a'"),
        (f"{POOL}.zones", ["a", "a"], "expected each zone once, a is there twice"),
        (f"{POOL}.zones", [], "expected a list of zones, got an empty list"),
        (f"{POOL}.sizes", {}, "expected at least one size, got none"),
        (POOL, [1], "expected a mapping, got a list"),
        (f"{POOL}.resources.ram", "192XB", "'192XB' cannot be read"),
        (f"{POOL}.resources.cpu", -4, "-4 is negative"),
        (f"{POOL}.resources.capacity_type", "spot", "expected one of on-demand, preemptible, reserved, got 'spot'"),
        (f"{CPU}.max_slices", -1, "-1 is negative"),
        (f"{CPU}.max_slices", "many", "'many' cannot be read"),
        (f"{CPU}.max_slices", 2.5, "2.5 cannot be read"),
        (f"{CPU}.max_slices", True, "True cannot be read"),
        (f"{CPU}.max_slices", 10**9, "expected at most 1,000,000, got 1000000000"),
        (f"{CPU}.num_vms", 0, "expected a whole number of at least 1, got 0"),
        (f"{CPU}.priority", "first", "expected a whole number between -1,000,000 and 1,000,000, got 'first'"),
        (f"{CPU}.resources.device_type", "fpga", "expected one of cpu, gpu, tpu, got 'fpga'"),
        (f"{CPU}.slice_template.num_vms", 3, "expected num_vms (1), got 3"),
        (
            f"{CPU}.slice_template.gcp.zone",
            7,
            "expected a name of letters, digits, dots, dashes and underscores, got 7",
        ),
        (CPU, 3, "expected a mapping, got 3"),
        ("platform.label_prefix", "P!", "expected at most 30 lower-case letters, digits and dashes, got 'P!'"),
        ("platform", "gcp", "expected a mapping, got 'gcp'"),
        ("platform.gcp", {"a": float("nan")}, "expected plain texts, numbers and lists, got nan"),
        (f"{AUTOSCALER}.scale_down_delay", 300, "expected a duration such as {milliseconds: 300000}, got 300"),
        (f"{AUTOSCALER}.scale_down_delay", {"milliseconds": -1}, "expected milliseconds between 0 and a year, got -1"),
        (
            f"{AUTOSCALER}.evaluation_interval",
            {"milliseconds": 0},
            "expected milliseconds between 500 and an hour (3,600,000), got a mapping",
        ),
        ("name", ["x"], "expected a text of one line, got a list"),
    ],
)
def test_a_wrong_field_is_refused_by_its_path(path: str, value: object, sentence: str) -> None:
    text = refusal(small({path: value}))
    assert text.startswith(f"{path}: {sentence}")
    assert "\n" not in text


@pytest.mark.parametrize(
    ("path", "value", "place", "sentence"),
    [
        (f"{POOL}.sizes", {"big": {}}, f"{POOL}.sizes.big", "expected a size such as 8, got 'big'"),
        (f"{POOL}.sizes", {4: {}, "4": {}}, f"{POOL}.sizes.4", "expected each size once, it is there twice"),
        (f"{POOL}.sizes", {True: {}}, f"{POOL}.sizes.True", "expected a size such as 8, got true"),
        ("tpu_pools", {"a b": {}}, "tpu_pools.a b", "expected a name of letters, digits, dots, dashes and underscores"),
        (f"{CPU}.min_slices", 7, f"{CPU}.max_slices", "expected at least min_slices (7), got 6"),
        (
            f"{CPU}.resources.device_type",
            "gpu",
            f"{CPU}.resources.device_count",
            "expected how many GPUs one VM has, at least 1",
        ),
        (f"{CPU}.slice_template.local", {}, f"{CPU}.slice_template", "expected one platform, got gcp and local"),
        (
            f"{CPU}.worker",
            {"attributes": ["a"]},
            f"{CPU}.worker.attributes",
            "expected a mapping of at most 100 labels",
        ),
        ("platform.local", {}, "platform", "expected one platform, got gcp and local"),
    ],
)
def test_the_path_is_that_of_the_value_to_change(path: str, value: object, place: str, sentence: str) -> None:
    assert refusal(small({path: value})).startswith(f"{place}: {sentence}")


def test_a_size_that_its_family_does_not_have_is_named_with_those_it_has() -> None:
    content = small()
    content["tpu_pools"]["serving"]["sizes"][7] = {"max_slices": 1}
    assert refusal(content) == (
        "tpu_pools.serving.sizes.7: TPU v5e has no size 7; its sizes in chips are 1, 2, 4, 8, 16, 32, 64, 128, 256"
    )


@pytest.mark.parametrize("content", [None, [], "groups", 7])
def test_a_file_that_is_no_mapping_is_refused(content: object) -> None:
    assert refusal(content).startswith("expected a cluster file, which is a mapping, got ")


@pytest.mark.parametrize(
    "changes", [{"tpu_pools": None, "scale_groups": {}}, {"tpu_pools": REMOVED, "scale_groups": REMOVED}]
)
def test_a_file_without_any_group_is_refused(changes: dict[str, Any]) -> None:
    assert refusal(small(changes)) == "expected groups under tpu_pools or scale_groups, got none"


def test_two_entries_that_make_one_name_are_refused() -> None:
    content = small({"tpu_pools": {}})
    content["scale_groups"]["cpu-us-west4-a"] = content["scale_groups"]["cpu"] | {"zones": None}
    assert refusal(content) == "cpu-us-west4-a: expected each group once, two entries make this one"


def test_a_group_without_any_platform_is_refused() -> None:
    text = refusal(small({"platform": {}, "tpu_pools": {}, "scale_groups.cpu.slice_template": None}))
    assert text == "scale_groups.cpu.slice_template: expected one of gcp, coreweave, local, simulated in it, got none"


def test_a_file_that_names_one_value_a_billion_times_is_refused_at_once() -> None:
    bomb: Any = "x"
    for _ in range(12):
        bomb = [bomb] * 10
    assert "expected at most 1,000 values" in refusal(small({"platform.gcp": {"bomb": bomb}}))


def test_more_groups_than_anyone_runs_are_refused() -> None:
    content = small({"tpu_pools.serving.zones": [f"z{number}" for number in range(6_000)]})
    assert refusal(content) == "expected at most 10,000 groups, the file makes more"
