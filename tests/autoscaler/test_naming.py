"""Section 1: names of slices."""

import re

from hypothesis import given
from hypothesis import strategies as st

from scaling.autoscaler.naming import slice_name

VALID = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")


@given(st.text(max_size=40), st.text(min_size=1, max_size=200), st.text(max_size=20), st.integers(0, 10**6))
def test_a_name_is_valid_whatever_it_is_made_of(prefix: str, group: str, seed: str, number: int) -> None:
    name = slice_name(prefix, group, seed, number, ())

    assert VALID.fullmatch(name), name
    assert name == slice_name(prefix, group, seed, number, ())


def test_names_of_groups_that_look_alike_differ() -> None:
    names = {slice_name("p", group, "1", 0, ()) for group in ("a_b", "a-b", "A-b", "a.b", "x" * 90, "x" * 91)}

    assert len(names) == 6


def test_a_taken_name_is_passed_over() -> None:
    first = slice_name("", "t", "1", 0, ())

    assert slice_name("", "t", "1", 0, {first}) != first


def test_a_name_shows_its_group() -> None:
    assert slice_name("prod", "tpu_v5e_4-eu", "1", 0, ()).startswith("prod-tpu-v5e-4-eu-")
    assert slice_name("", "4-cpu", "1", 0, ()).startswith("s-4-cpu-")
