"""Section 1: what a demand entry may look like and what it means."""

import pytest

from scaling.autoscaler.models import DemandEntry, DeviceType
from scaling.autoscaler.shapes import UNIT, Shape


def shape_of(entry: DemandEntry) -> Shape:
    assert entry.shape is not None, entry.problem
    return entry.shape


def test_a_tpu_number_counts_workers_of_any_variant() -> None:
    entry = DemandEntry(resources={"tpu": 12}, constraints=["v5-8"], priority=7)

    assert (entry.tasks, entry.priority) == (12, 7)
    assert (shape_of(entry).device_type, shape_of(entry).variants) == (DeviceType.TPU, ())


def test_a_tpu_number_multiplies_the_tasks() -> None:
    assert DemandEntry(resources={"tpu": 2}, tasks=3).tasks == 6


def test_a_tpu_version_with_a_topology_is_a_variant_and_a_count_of_workers() -> None:
    entry = DemandEntry(resources={"tpu": {"version": "v5", "topology": "2x4", "count": 2}})

    assert (entry.tasks, shape_of(entry).variants) == (2, ("v5-8",))


@pytest.mark.parametrize(
    ("version", "topology", "variant"),
    [("v4", "2x2x1", "v4-8"), ("v5e", "2x4", "v5litepod-8"), ("v5p", "2x2x1", "v5p-8"), ("v6e", "4x4", "v6e-16")],
)
def test_the_table_of_topologies_decides_for_known_families(version: str, topology: str, variant: str) -> None:
    assert shape_of(DemandEntry(resources={"tpu": {"version": version, "topology": topology}})).variants == (variant,)


def test_gpus_are_counted_per_task_and_may_be_a_share_of_one() -> None:
    whole = shape_of(DemandEntry(resources={"gpu": 4}))
    share = shape_of(DemandEntry(resources={"gpu": 0.46}))

    assert (whole.need.devices, whole.need.share) == (4, 0)
    assert (share.need.devices, share.need.share) == (0, 460_000)


def test_a_gpu_may_name_its_variant_in_any_case() -> None:
    assert shape_of(DemandEntry(resources={"gpu": {"variant": "H100", "count": 8}})).variants == ("h100",)


def test_any_of_several_variants_will_do() -> None:
    entry = DemandEntry(device={"type": "gpu", "variants": ["a100", "h100"], "count": 2})

    assert shape_of(entry).variants == ("a100", "h100")
    assert shape_of(entry).need.devices == 2


def test_amounts_are_read_as_people_write_them() -> None:
    need = shape_of(DemandEntry(resources={"cpu": "500m", "memory": "4GiB", "disk": "10GB"})).need

    assert (need.cpu, need.memory, need.disk) == (UNIT // 2, 4 * 2**30, 10 * 10**9)


def test_half_cores_add_up_exactly() -> None:
    tenth = shape_of(DemandEntry(resources={"cpu": 0.1})).need.cpu

    assert tenth * 10 == UNIT


def test_entries_that_mean_the_same_share_one_shape() -> None:
    first = DemandEntry(resources={"cpu": 1, "memory": "1GiB"}, job_id="a")
    second = DemandEntry(resources={"memory": 2**30, "cpu": "1000m"}, job_id="b", priority=3, tasks=9)

    assert shape_of(first) is shape_of(second)


def test_gangs_of_different_sizes_are_different_shapes() -> None:
    small = DemandEntry(resources={"tpu": 1}, tasks=4, gang=True)

    assert shape_of(small).gang_tasks == 4
    assert shape_of(small.waiting(8)).gang_tasks == 8


def test_production_needs_firm_capacity_unless_the_job_allows_otherwise() -> None:
    assert shape_of(DemandEntry(tier="production")).needs_firm
    assert not shape_of(DemandEntry(tier="production", allow_preemptible=True)).needs_firm
    assert not shape_of(DemandEntry(tier="batch")).needs_firm


def test_no_gpu_or_tpu_is_a_cpu_entry() -> None:
    for resources in ({"cpu": 1, "gpu": 0}, {"cpu": 1, "tpu": 0}, {}, None):
        assert shape_of(DemandEntry(resources=resources)).device_type is DeviceType.CPU


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"resources": {"tpu": 1, "gpu": 1}}, "not both"),
        ({"resources": {"memory": "lots"}}, "memory"),
        ({"resources": {"cpu": -1}}, "negative"),
        ({"resources": {"cpu": "fast"}}, "cpu"),
        ({"resources": {"gpu": 1.5}}, "share"),
        ({"resources": {"gpu": True}}, "gpu"),
        ({"resources": {"tpu": 0}}, "no tasks"),
        ({"resources": {"tpu": 1.5}}, "tpu"),
        ({"resources": {"tpu": {"version": "v5p"}}}, "topology"),
        ({"resources": {"tpu": {"version": "v5p", "topology": "big"}}}, "topology"),
        ({"resources": {"npu": 1}}, "npu"),
        ({"resources": {"tpu": 1}, "device": {"type": "tpu"}}, "twice"),
        ({"resources": ["cpu"]}, "mapping"),
        ({"device": {"type": "quantum"}}, "device"),
        ({"tasks": 0}, "no tasks"),
        ({"tasks": -3}, "negative"),
        ({"tasks": "many"}, "tasks"),
        ({"tasks": True}, "tasks"),
        ({"tier": "gold"}, "tier"),
        ({"gang": "yes"}, "gang"),
        ({"allow_preemptible": 1}, "allow_preemptible"),
        ({"priority": "high"}, "priority"),
        ({"submitted": "yesterday"}, "submitted"),
        ({"constraints": 7}, "constraints"),
        ({"constraints": [{"key": "zone", "operator": "LIKE", "values": ["a"]}]}, "operator"),
        ({"constraints": [{"key": "zone", "operator": "EQ", "values": []}]}, "exactly one value"),
        ({"constraints": [{"key": "zone", "operator": "EQ", "values": ["a", "b"]}]}, "exactly one value"),
        ({"constraints": [{"key": "zone", "operator": "IN", "values": []}]}, "at least one"),
        ({"constraints": [{"key": "zone", "operator": "EXISTS", "values": ["a"]}]}, "no value"),
        ({"constraints": [{"key": "rack", "operator": "GT", "values": ["high"]}]}, "numbers"),
        ({"constraints": [{"key": "zone", "operator": "EQ", "values": ["a"], "mode": "perhaps"}]}, "mode"),
        ({"constraints": [{"operator": "EXISTS"}]}, "key"),
        ({"constraints": [{"key": "zone", "is": "a"}]}, "unknown"),
        ({"constraints": [""]}, "word"),
    ],
)
def test_what_cannot_be_meant_is_told_and_never_raised(fields: dict[str, object], words: str) -> None:
    entry = DemandEntry(**fields)  # type: ignore[arg-type]

    assert entry.shape is None
    assert words in entry.problem


def test_two_different_required_eq_on_one_key_cannot_be_meant() -> None:
    first = {"key": "zone", "operator": "EQ", "values": ["z1"]}
    second = {"key": "zone", "operator": "EQ", "values": ["z2"]}

    assert "zone" in DemandEntry(constraints=[first, second]).problem
    assert not DemandEntry(constraints=[first, dict(first)]).problem
    assert not DemandEntry(constraints=[first, {**second, "mode": "preferred"}]).problem


def asked(operator: str, *values: object, key: str = "rank") -> dict[str, object]:
    return {"key": key, "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        ([asked("IN", "us-east5"), asked("IN", "europe-west4")], "rank cannot be 'us-east5' and 'europe-west4'"),
        ([asked("EQ", "a"), asked("IN", "b")], "rank cannot be 'a' and 'b'"),
        ([asked("IN", "a", "b"), asked("IN", "c", "d")], "rank IN a b and rank IN c d exclude each other"),
        ([asked("NE", "a"), asked("EQ", "a")], "exclude"),
        ([asked("EQ", 7), asked("LT", 7)], "exclude"),
        ([asked("GT", 5), asked("LT", 3)], "rank GT 5 and rank LT 3 exclude each other"),
        ([asked("LE", 5), asked("GT", 5)], "exclude"),
        ([asked("NOT_EXISTS"), asked("NE", "a")], "exclude"),
        ([asked("IN", "a", "b"), asked("NE", "a"), asked("NE", "b")], "no rank meets all that is asked of it"),
        ([asked("IN", "a", "b"), asked("IN", "b", "c"), asked("NE", "a")], ""),
        ([asked("GE", 5), asked("LE", 5), asked("EQ", "5.0")], ""),
        ([asked("EQ", 8), asked("IN", "8.0")], ""),
        ([asked("GT", 5), asked("NE", 6), asked("EXISTS")], ""),
        ([asked("GT", "16", key="worker_cpu"), asked("EQ", 0, key="worker_cpu")], ""),  # 0 is unlimited
        (["us-east5", "europe-west4"], ""),  # a group may have both in its name
    ],
)
def test_requirements_of_one_key_that_no_value_meets_cannot_be_meant(constraints: list[object], words: str) -> None:
    problem = DemandEntry(constraints=constraints).problem

    assert words in problem and bool(words) == bool(problem)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("region=us-east5", "the word us-east5 or {key: region, operator: EQ, values: [us-east5]}"),
        ("Zone == US-central1-a", "the word US-central1-a or {key: Zone, operator: EQ, values: [US-central1-a]}"),
        ("rack!=7", "expected {key: rack, operator: NE, values: [7]}"),
        ("worker_cpu >= 64", "expected {key: worker_cpu, operator: GE, values: [64]}"),
        ("zone: us-east5-a", "the word us-east5-a or"),
        ("rack:7", ""),
        ("a=", ""),
        ("us-east5", ""),
    ],
)
def test_a_key_with_its_value_is_no_word_and_is_told_how_to_write(word: str, told: str) -> None:
    problem = DemandEntry(constraints=[word]).problem

    assert told in problem and bool(told) == bool(problem)


def test_one_and_true_are_told_apart_however_often_they_were_read() -> None:
    assert not DemandEntry(resources={"gpu": 1}).problem
    assert DemandEntry(resources={"gpu": True}).problem
    assert not DemandEntry(resources={"gpu": 1}).problem


def test_an_entry_is_not_changed() -> None:
    entry = DemandEntry(resources={"tpu": 4}, job_id="a")

    assert entry.waiting(2).tasks == 2
    assert entry.tasks == 4
