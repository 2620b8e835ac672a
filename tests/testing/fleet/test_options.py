"""Which deployments the options make, and with which load."""

from pathlib import Path

import pytest

from scaling.testing.fleet.load import CurveLoad, TraceLoad
from scaling.testing.fleet.options import first_replicas, make_specs
from tests.testing.fleet.serving import options

TRACE = tuple(float(second) for second in range(0, 3600, 2))


def test_the_first_of_four_has_the_trace_as_its_load_and_a_curve_without_one(tmp_path: Path) -> None:
    with_trace, without = make_specs(options(tmp_path), TRACE), make_specs(options(tmp_path), None)
    assert [type(spec.load) for spec in with_trace] == [TraceLoad, CurveLoad, CurveLoad, CurveLoad]
    assert [type(spec.load) for spec in without] == [CurveLoad] * 4
    assert len({spec.id for spec in with_trace}) == 4


@pytest.mark.parametrize("speed", [1, 10])
def test_time_lapse_keeps_the_requests_per_second(tmp_path: Path, speed: float) -> None:
    load = make_specs(options(tmp_path, speed=speed), TRACE)[0].load
    assert load.arrivals(0, 300) / 300 == pytest.approx(2, rel=0.02)


def test_more_than_four_are_drawn_by_the_seed(tmp_path: Path) -> None:
    def drawn(seed: int) -> list[CurveLoad]:
        specs = make_specs(options(tmp_path, virtual=True, deployments=50, seed=seed), None)
        return [spec.load for spec in specs if isinstance(spec.load, CurveLoad)]

    assert len(drawn(1)) == 50
    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_a_modelled_fleet_begins_with_what_its_load_needs_and_a_real_one_small(tmp_path: Path) -> None:
    virtual, real = options(tmp_path, virtual=True), options(tmp_path)
    for spec in make_specs(virtual, None):
        assert isinstance(spec.load, CurveLoad)
        assert first_replicas(spec, virtual) * (spec.target_rps or 0) >= spec.load.mean
    assert [first_replicas(spec, real) for spec in make_specs(real, None)] == [1, 2, 1, 1]
    assert [first_replicas(spec, options(tmp_path, replicas=3)) for spec in make_specs(real, None)] == [3] * 4


def test_settings_and_behaviour_are_given_to_every_deployment(tmp_path: Path) -> None:
    given = options(tmp_path, deployments=6, warmup=3.0, settings={"cooldown": 12.0, "max_replicas": 7})
    specs = make_specs(given, None)
    assert {(it.cooldown, it.max_replicas, it.behaviour.warmup_seconds, it.stabilization_window) for it in specs} == {
        (12.0, 7, 3.0, 300)
    }
    assert len(specs) == 6
