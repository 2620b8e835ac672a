"""Random cluster scenarios for the invariants: small, but with everything that may happen in them."""

from typing import Any

from hypothesis import strategies as st

from tests.autoscaler.cluster import DENIED, QUOTA, STOCKOUT, TOO_FAST, TRANSIENT

Mapping = dict[str, Any]

ZONES = ("z1", "us-east1-b", "")
VARIANTS = {"tpu": ("v5-8", "v6e-8"), "gpu": ("h100", "a100"), "cpu": ("",)}
ERRORS = (STOCKOUT, TRANSIENT, QUOTA, DENIED, TOO_FAST, QUOTA.replace("64.0", "0"))


@st.composite
def groups(draw: st.DrawFn, number: int) -> Mapping:
    kind = draw(st.sampled_from(["tpu", "tpu", "gpu", "cpu"]))
    group: Mapping = {
        "name": f"g{number}",
        "device_type": kind,
        "device_variant": draw(st.sampled_from(VARIANTS[kind])),
        "devices_per_worker": 0 if kind == "cpu" else draw(st.sampled_from([1, 4, 8])),
        "workers_per_slice": draw(st.sampled_from([1, 1, 2, 4])),
        "worker_cpu": draw(st.sampled_from([0, 4, 16])),
        "max_slices": draw(st.integers(0, 6)),
        "priority": draw(st.sampled_from([1, 1, 2])),
        "zone": draw(st.sampled_from(ZONES)),
    }
    group |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "min_slices": st.integers(0, 3),
                "buffer_slices": st.integers(0, 2),
                "capacity_type": st.sampled_from(["on_demand", "preemptible", "reserved"]),
                "quota_pool": st.sampled_from(["p", "q"]),
                "allocation_tier": st.integers(1, 3),
                "scale_up_rate": st.sampled_from([0, 1, 4, 16]),
                "scale_down_rate": st.sampled_from([0, 2, 32]),
                "idle_threshold": st.sampled_from([0, 30, 300]),
                "provision_timeout": st.sampled_from([20, 100, 900]),
                "platform": st.sampled_from(["simulated", "gcp"]),
            },
        )
    )
    return group


@st.composite
def slices(draw: st.DrawFn, number: int, names: list[str]) -> Mapping:
    state = draw(st.sampled_from(["READY", "READY", "READY", "BOOTING", "REQUESTING", "DRAINING", "TERMINATING"]))
    item: Mapping = {
        "id": f"s{number}",
        "group": draw(st.sampled_from(names)),
        "state": state,
        "created": draw(st.sampled_from([-5000, -590, -60, -5])),
    }
    if state in ("READY", "DRAINING"):
        item["active_tasks"] = draw(st.integers(0, 2))
        if draw(st.booleans()):
            item["idle_since"] = draw(st.sampled_from([-5000, -300, -130, -5]))
    return item


@st.composite
def jobs(draw: st.DrawFn, number: int) -> Mapping:
    resources = draw(
        st.sampled_from(
            [
                {"tpu": 1},
                {"tpu": 1},
                {"tpu": {"variant": "v5-8"}},
                {"gpu": 1},
                {"gpu": 0.4},
                {"gpu": {"variant": "h100", "count": 4}},
                {"cpu": 1},
                {"cpu": 3},
                {"cpu": "500m", "memory": "1GiB"},
            ]
        )
    )
    return {
        "id": f"j{number}",
        "tasks": draw(st.sampled_from([1, 1, 2, 3, 4, 8])),
        "resources": resources,
        "submitted": draw(st.sampled_from([-5000, -130, -60, -5, -5])),
    } | draw(
        st.fixed_dictionaries(
            {},
            optional={
                "priority": st.sampled_from([1, 100, 200]),
                "tier": st.sampled_from(["production", "standard", "batch"]),
                "allow_preemptible": st.booleans(),
                "allow_accelerators": st.booleans(),
                "gang": st.booleans(),
                "run_seconds": st.sampled_from([5, 45, 400]),
                "constraints": st.sampled_from(
                    [["z1"], ["on-demand"], [{"key": "zone", "operator": "EQ", "values": ["z1"], "mode": "preferred"}]]
                ),
            },
        )
    )


def markers(names: list[str]) -> st.SearchStrategy[Mapping]:
    return st.fixed_dictionaries(
        {
            "group": st.sampled_from(names),
            "kind": st.sampled_from(["stockout", "backoff", "quota", "permanent"]),
            "since": st.sampled_from([-900, -60]),
            "until": st.sampled_from([-1, 15, 800]),
        }
    )


def fail_rules(names: list[str]) -> st.SearchStrategy[Mapping]:
    return st.fixed_dictionaries(
        {"group": st.sampled_from(names), "error": st.sampled_from(ERRORS), "after": st.integers(0, 3)},
        optional={"late": st.sampled_from([5, 25]), "until": st.sampled_from([5, 100])},
    )


def events(names: list[str], slice_ids: list[str], job_ids: list[str]) -> st.SearchStrategy[Mapping]:
    at = st.fixed_dictionaries({"at": st.integers(0, 120)})
    kinds: list[st.SearchStrategy[Mapping]] = [
        st.fixed_dictionaries({kind: st.sampled_from(names)})
        for kind in (
            "drain_group",
            "undrain_group",
            "pause_group",
            "resume_group",
            "clear_marker",
            "acknowledge_marker",
        )
    ]
    kinds += [
        st.fixed_dictionaries({"set_group": st.sampled_from(names), "max_slices": st.integers(0, 8)}),
        st.fixed_dictionaries({"set_group": st.sampled_from(names), "min_slices": st.integers(0, 3)}),
        st.fixed_dictionaries({"drain_group": st.sampled_from(names), "deadline": st.integers(0, 150)}),
        st.fixed_dictionaries({"platform_list_error": st.just("503"), "for": st.integers(1, 80)}),
        st.fixed_dictionaries({"job_done": st.sampled_from(job_ids)}),
    ]
    if slice_ids:
        kinds += [
            st.fixed_dictionaries({"lose_worker": st.sampled_from(slice_ids)}),
            st.fixed_dictionaries(
                {"worker_unknown": st.sampled_from(slice_ids), "for": st.sampled_from([5, 60, 2000])}
            ),
            st.fixed_dictionaries({"drain_slice": st.sampled_from(slice_ids)}),
        ]
    return st.builds(lambda when, what: when | what, at, st.one_of(kinds))


@st.composite
def scenarios(draw: st.DrawFn) -> Mapping:
    """A whole scenario as a parsed file would be."""
    made = [draw(groups(number)) for number in range(draw(st.integers(1, 4)))]
    names = [group["name"] for group in made]
    existing = [draw(slices(number, names)) for number in range(draw(st.integers(0, 5)))]
    wanted = [draw(jobs(number)) for number in range(draw(st.integers(1, 5)))]
    found = draw(st.lists(markers(names), max_size=3, unique_by=lambda item: (item["group"], item["kind"])))
    happening = events(names, [item["id"] for item in existing], [item["id"] for item in wanted])
    return {
        "groups": made,
        "quota_pools": [{"name": "p", "limit": draw(st.sampled_from([0, 8, 24, 100]))}, {"name": "q"}],
        "slices": existing,
        "markers": found,
        "jobs": wanted,
        "cloud": {
            "boot_seconds": draw(st.sampled_from([0, 15, 60, 500])),
            "fail": draw(st.lists(fail_rules(names), max_size=2)),
        },
        "run": {"cycles": draw(st.integers(2, 7)), "every": draw(st.sampled_from([10, 30, 100]))},
        "events": draw(st.lists(happening, max_size=3)),
    }


@st.composite
def tpu_scenarios(draw: st.DrawFn) -> Mapping:
    """Only whole-worker tasks, which never leave a gap that another could fill."""
    scenario = draw(scenarios())
    for group in scenario["groups"]:
        group |= {"device_type": "tpu", "device_variant": "v5-8", "worker_cpu": 0}
    for job in scenario["jobs"]:
        job["resources"] = {"tpu": 1}
        job["submitted"] = 10**6  # taken as now: never old enough to leave room aside
    return scenario
