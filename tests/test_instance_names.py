"""Two control planes never go by one name, and a name that cannot be used is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling.instance_names import LONGEST, of_host, read
from scaling.loops.registry import LOOPS, loop_of

POD = "iris-control-plane-production-europe-west4-7d9f8b6c5d-"


def test_a_given_name_is_taken_as_it_is() -> None:
    assert read(" rack-7/iris:2 ", "host") == "rack-7/iris:2"
    assert read("x" * LONGEST, "host") == "x" * LONGEST


@pytest.mark.parametrize("name", ["x" * 41, "a@b", "@", "two words", "größe", "a\x00b"])
def test_a_name_that_cannot_be_used_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(ValueError, match="expected 1 to 40 ASCII characters without blanks and @, got") as caught:
        read(name, "host")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("nothing", ["", "  "])
def test_without_a_name_it_is_the_hosts(nothing: str) -> None:
    assert read(nothing, "iris-0") == "iris-0"


def test_pods_whose_long_names_differ_at_the_end_have_names_of_their_own() -> None:
    names = {read("", POD + end) for end in ("x7k2p", "q9w4z", "x7k2q")}
    assert len(names) == 3
    assert all(name.startswith("iris-control-plane-production-") for name in names)


def test_hosts_whose_long_names_differ_at_the_beginning_have_names_of_their_own() -> None:
    domain = ".iris-headless.machine-learning.svc.cluster.local"
    assert len({of_host(f"iris-{number}{domain}") for number in range(3)}) == 3


@given(st.text(max_size=100))
def test_any_hosts_name_makes_one_that_can_be_used(host: str) -> None:
    name = of_host(host)
    assert read(name, "other") == name == of_host(host)
    assert loop_of(LOOPS["scaler"].row_name(name)) == (LOOPS["scaler"], name)
