"""TPU slice types: what a topology names and how a slice is made up."""

import csv

import pytest

from scaling.autoscaler.topologies import FAMILIES, TpuType, topology_chips, tpu_family, tpu_type, tpu_variant
from tests.services.inputs import DATA, published


def test_the_table_agrees_with_every_row_of_the_published_one() -> None:
    with published(DATA / "tpu_topologies.csv").open() as file:
        for row in csv.DictReader(file):
            found = tpu_type(row["name"])
            numbers = (int(row["chips"]), int(row["vms_per_slice"]), int(row["chips_per_vm"]))
            assert (found.name, found.chips, found.vms_per_slice, found.chips_per_vm) == (row["name"], *numbers)


@pytest.mark.parametrize(
    ("version", "topology", "variant"),
    [
        ("v4", "2x2x1", "v4-8"),
        ("v4", "4x4x4", "v4-128"),
        ("v5e", "2x4", "v5litepod-8"),
        ("v5litepod", "2x4", "v5litepod-8"),
        ("V5E", "1x1", "v5litepod-1"),
        ("v5p", "2x2x1", "v5p-8"),
        ("v5p", "2x2x4", "v5p-32"),
        ("v6e", "2x4", "v6e-8"),
        ("v6e", "16x16", "v6e-256"),
        ("v2", "2x2", "v2-8"),
        ("v3", "4x4", "v3-32"),
        ("tpu-v6e-slice", "4 x 4", "v6e-16"),
        ("tpu_v5_lite_podslice", "2X2", "v5litepod-4"),
        ("v5", "2x4", "v5-8"),
        ("v9", "2x2x2", "v9-8"),
        (" V5 ", "2×4", "v5-8"),
    ],
)
def test_a_version_and_a_topology_name_a_variant(version: str, topology: str, variant: str) -> None:
    assert tpu_variant(version, topology) == variant


@pytest.mark.parametrize(
    "topology", ["", "2", "2x", "x2", "2by4", "0x4", "-2x4", "2x4x", "1.5x2", "9999999x9999999", "2x2x2x2x2", "٢x٤"]
)
def test_an_unreadable_topology_is_refused_in_one_sentence(topology: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]* is not a TPU topology; expected [^\n]*\.$"):
        topology_chips(topology)


def test_an_empty_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version is empty"):
        tpu_variant("  ", "2x4")


def test_a_huge_topology_text_is_shown_short() -> None:
    with pytest.raises(ValueError) as refused:
        topology_chips("9x" * 100_000)
    assert len(str(refused.value)) < 200


def test_a_type_is_found_by_its_name_and_by_its_other_names() -> None:
    assert tpu_type("v5p-32") == TpuType("v5p-32", "v5p", chips=16, vms_per_slice=4, chips_per_vm=4)
    assert tpu_type("v5e-8") == tpu_type("V5litepod-8") == TpuType("v5litepod-8", "v5e", 8, 1, 8)


def test_sizes_between_the_powers_of_two_exist_where_slices_are_made_of_cubes() -> None:
    assert tpu_type("v5p-384").vms_per_slice == 48


@pytest.mark.parametrize("name", ["v5p-7", "v5litepod-512", "v6e-2", "v4-0"])
def test_a_size_that_is_not_on_sale_is_refused_with_those_that_are(name: str) -> None:
    with pytest.raises(ValueError, match=r"has no size \d+; its sizes in (chips|cores) are "):
        tpu_type(name)


@pytest.mark.parametrize("name", ["", "v5p", "v5p-", "-8", "h100-8", "v5p-8x", "v5p--8", "v5p-99999999999"])
def test_a_name_that_is_no_type_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"is not a TPU type|has no size"):
        tpu_type(name)


def test_every_slice_is_whole_vms() -> None:
    for family in FAMILIES:
        for size in family.sizes:
            found = family.type_of(size)
            assert found.vms_per_slice * found.chips_per_vm == found.chips
            assert tpu_family(found.name.rpartition("-")[0]) is family
