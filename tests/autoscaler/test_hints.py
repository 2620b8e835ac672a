"""Section 8: why a job waits."""

import pytest

from scaling.autoscaler.models import DemandEntry, HintCode
from scaling.autoscaler.scaling_group import ScalingGroup
from scaling.autoscaler.status import build_job_pending_hints
from scaling.testing.controller import make_autoscaler
from tests.autoscaler.cluster import SLOW, booting, cpu, gpu, job, marker, play, pod, ready, tpu


def test_a_reason_starts_with_its_code() -> None:
    played = play(
        groups=[tpu("t", max_slices=1), cpu("c")],
        jobs=[
            job("up"),
            job("full", submitted=-5),
            job("huge", 1, {"cpu": 99}),
            job("odd", 1, constraints=["v99"]),
            job("none", 0),
        ],
    )

    for name, hint in played.hints().items():
        assert hint["reason"].startswith(f"{hint['code']}: "), name
    assert [played.code(name) for name in ("up", "full", "huge", "odd", "none")] == [
        "scaling_up",
        "tier_blocked",
        "insufficient_resources",
        "no_matching_group",
        "invalid_request",
    ]


def test_a_job_given_room_on_ready_slices_has_no_hint() -> None:
    played = play(groups=[tpu("t")], slices=[ready("r", "t")], jobs=[job("j")])

    assert played.hints() == {}


def test_scaling_up_names_the_groups_and_how_many() -> None:
    played = play(groups=[tpu("a", max_slices=2, priority=1), tpu("b", priority=2)], jobs=[job("j", 5)])

    assert "2 slices requested in a" in played.reason("j")
    assert "3 slices requested in b" in played.reason("j")


def test_what_is_requested_and_not_confirmed_is_scaling_up_and_what_boots_is_waiting() -> None:
    def code(state: str) -> str | None:
        return play(groups=[tpu("t")], slices=[booting("b", "t", state=state)], jobs=[job("j")], cloud=SLOW).code("j")

    assert code("REQUESTING") == "scaling_up"
    assert code("BOOTING") == "waiting_for_workers"


def test_a_partly_placed_job_has_the_code_of_what_is_missing_and_tells_what_comes() -> None:
    played = play(
        groups=[tpu("t", max_slices=3)],
        slices=[ready("r", "t"), booting("b", "t")],
        jobs=[job("j", 5)],
        cloud=SLOW,
    )

    assert played.code("j") == "tier_blocked"
    assert "2 of 5 tasks" in played.reason("j")
    assert "1 slice requested in t" in played.reason("j")
    assert "1 slice booting in t" in played.reason("j")


def test_a_job_with_tasks_on_ready_slices_and_others_booting_waits() -> None:
    played = play(groups=[tpu("t")], slices=[ready("r", "t"), booting("b", "t")], jobs=[job("j", 2)], cloud=SLOW)

    assert played.code("j") == "waiting_for_workers"


def test_tier_blocked_names_five_groups_and_counts_the_rest() -> None:
    groups = [tpu(f"g{n}", max_slices=1) for n in range(8)]
    played = play(groups=groups, slices=[ready(f"s{n}", f"g{n}", idle=None) for n in range(8)], jobs=[job("j")])

    reason = played.reason("j")
    assert all(f"g{n} CAPACITY_EXCEEDED" in reason for n in range(5))
    assert "g5" not in reason
    assert "3 more" in reason
    assert len(played.hints()["j"]["blocked_by"]) == 8


def test_blocked_by_tells_until_when() -> None:
    played = play(groups=[tpu("t")], markers=[marker("t", "stockout")], jobs=[job("j")])

    assert played.hints()["j"]["blocked_by"] == [{"group": "t", "outcome": "STOCKOUT", "until": 840}]


def test_only_preemptible_groups_for_a_production_job_is_tier_blocked() -> None:
    played = play(groups=[tpu("spot", capacity_type="preemptible")], jobs=[job("j", tier="production")])

    assert played.code("j") == "tier_blocked"
    assert "preemptible" in played.reason("j")
    assert "spot" in played.reason("j")


def test_blocked_groups_of_its_tier_are_named_and_preemptible_ones_are_not() -> None:
    played = play(
        groups=[tpu("spot", capacity_type="preemptible"), tpu("firm", max_slices=0)],
        jobs=[job("j", tier="production")],
    )

    assert "firm CAPACITY_EXCEEDED" in played.reason("j")
    assert "spot" not in played.reason("j")


def test_what_this_plan_used_up_is_told_as_what_blocks_the_next() -> None:
    full = play(groups=[tpu("t", max_slices=1)], jobs=[job("a"), job("b")])
    poor = play(groups=[tpu("t", quota_pool="p")], quota_pools=[{"name": "p", "limit": 8}], jobs=[job("a"), job("b")])
    probing = play(groups=[tpu("t")], markers=[marker("t", "stockout", since=-900, until=0)], jobs=[job("a"), job("b")])

    assert "CAPACITY_EXCEEDED" in full.reason("b")
    assert "QUOTA_EXCEEDED" in poor.reason("b")
    assert "PROBING" in probing.reason("b")


@pytest.mark.parametrize(
    ("resources", "words"),
    [
        ({"cpu": 16}, "8 cores of the 16 needed"),
        ({"cpu": 1, "memory": "2GiB"}, "memory"),
        ({"cpu": 1, "disk": "2GiB"}, "disk"),
    ],
)
def test_insufficient_resources_tells_the_numbers(resources: dict[str, object], words: str) -> None:
    group = cpu("c", cores=8, worker_memory=2**30, worker_disk=2**30)
    played = play(groups=[group], jobs=[job("j", 1, resources)])

    assert played.code("j") == "insufficient_resources"
    assert words in played.reason("j")
    assert "c " in played.reason("j")


def test_too_many_gpus_for_one_worker_are_insufficient_resources() -> None:
    played = play(groups=[gpu("g", count=4)], jobs=[job("j", 1, {"gpu": 8})])

    assert played.code("j") == "insufficient_resources"


@pytest.mark.parametrize("most", [0, 1, 7])
def test_a_gang_beyond_every_max_is_insufficient_resources_and_not_capacity_exceeded(most: int) -> None:
    played = play(groups=[pod("p", max_slices=most)], jobs=[job("g", 32, gang=True)])

    assert played.code("g") == "insufficient_resources"
    assert "CAPACITY_EXCEEDED" not in played.reason("g")
    assert "8 slices" in played.reason("g")


def test_a_job_whose_groups_may_have_no_slice_has_insufficient_resources() -> None:
    played = play(groups=[tpu("t", max_slices=0), tpu("u", max_slices=0)], jobs=[job("j")])

    assert played.code("j") == "insufficient_resources"
    assert "in t, u" in played.reason("j")


def test_a_closed_group_is_named_as_full_beside_one_that_is_blocked() -> None:
    played = play(
        groups=[tpu("t", max_slices=0), tpu("u")],
        markers=[marker("u", "stockout", until=100)],
        jobs=[job("j"), job("g", 2, gang=True)],
    )

    for waiting in ("j", "g"):
        assert played.code(waiting) == "tier_blocked"
        assert "t CAPACITY_EXCEEDED" in played.reason(waiting)


def test_a_closed_group_that_still_serves_is_full() -> None:
    played = play(groups=[tpu("t", max_slices=0)], slices=[ready("r", "t", idle=None)], jobs=[job("j")])

    assert played.code("j") == "tier_blocked"


def test_a_task_too_large_for_a_closed_group_is_insufficient_resources() -> None:
    played = play(groups=[cpu("c", cores=8, max_slices=0)], jobs=[job("j", 1, {"cpu": 16})])

    assert played.code("j") == "insufficient_resources"


def test_the_group_that_got_furthest_gives_the_code() -> None:
    far = tpu("full", max_slices=0, worker_cpu=64)
    weak = tpu("weak", worker_cpu=1)
    odd = pod("odd", workers=3, device_variant="v5-8", worker_cpu=64)
    wanted = job("j", 4, {"tpu": 1, "cpu": 8}, constraints=["v5-8"], gang=True)

    def code(*groups: object) -> str | None:
        return play(groups=list(groups), jobs=[wanted]).code("j")

    blocked = {**far, "max_slices": 4}
    assert code(odd) == "coschedule_mismatch"
    assert code(odd, weak) == "insufficient_resources"
    assert code(odd, far) == "insufficient_resources"
    played = play(groups=[odd, weak, blocked], markers=[marker("full", "stockout")], jobs=[wanted])
    assert played.code("j") == "tier_blocked"
    assert played.hints()["j"]["blocked_by"] == [{"group": "full", "outcome": "STOCKOUT", "until": 840}]


@pytest.mark.parametrize(
    ("tasks", "most", "words"),
    [
        (4, 0, "no group's max holds the gang of 4 tasks: p needs 1 slice, has at most 0"),
        (8, 1, "no group's max holds the gang of 8 tasks: p needs 2 slices, has at most 1"),
        (1, 1, "1 task is no multiple of the workers per slice: p has 4"),
    ],
)
def test_a_gang_that_fits_nowhere_is_told_in_good_grammar(tasks: int, most: int, words: str) -> None:
    played = play(groups=[pod("p", workers=4, max_slices=most)], jobs=[job("g", tasks, gang=True)])
    assert words in played.reason("g")


def test_a_mismatch_of_gang_and_slice_tells_the_numbers() -> None:
    played = play(groups=[pod("p", workers=16)], jobs=[job("g", 8, gang=True)])

    assert "8 tasks" in played.reason("g")
    assert "p has 16" in played.reason("g")


# -- nothing matches

ZONES = [
    tpu("t1", zone="us-central1-b", attributes={"rack": "north"}),
    tpu("t2", "v6e-8", zone="europe-west4-a", capacity_type="preemptible"),
]


@pytest.mark.parametrize(
    ("fields", "requirement", "nearest"),
    [
        ({"resources": {"tpu": {"variant": "v5-88"}}}, "device", "v5-8"),
        ({"resources": {"gpu": 1}}, "device", None),
        ({"resources": {"cpu": 1}}, "device", None),
        ({"constraints": ["preemptable"]}, "capacity type", "preemptible"),
        ({"constraints": ["nowhere-1-x", "reserved"]}, "capacity type", None),
        ({"constraints": ["nowhere-1-x", "reservd"]}, "capacity type", None),
        ({"constraints": ["nowhere-1-x", "GPU"]}, "device", None),
        ({"constraints": ["us-centrall1-b"]}, "zone", "us-central1-b"),
        ({"constraints": ["europe-west5"]}, "region", "europe-west4"),
        ({"constraints": ["nort"]}, "attribute", "north"),
        ({"constraints": [{"key": "zone", "operator": "EQ", "values": ["us-central1-c"]}]}, "zone", "us-central1-b"),
        (
            {"constraints": ["us-central1-b", "preemptible"]},
            "zone: no group has both preemptible and us-central1-b",
            None,
        ),
        (
            {"constraints": ["us-central1", "europe-west4"]},
            "region: no group has both us-central1 and europe-west4",
            None,
        ),
        ({"constraints": [{"key": "regoin", "values": ["europe-west4"]}]}, "attribute", "the nearest is region"),
        (
            {"constraints": [{"key": "device_type", "operator": "NE", "values": ["tpu"]}]},
            "device: no group has dev",
            "",
        ),
        ({"constraints": ["qqqqqqqq"]}, "attribute", None),
    ],
)
def test_no_matching_group_tells_the_requirement_and_the_nearest_name(
    fields: dict[str, object], requirement: str | None, nearest: str | None
) -> None:
    played = play(groups=ZONES, jobs=[job("j", **fields)])  # type: ignore[arg-type]
    reason = played.reason("j")

    assert played.code("j") == "no_matching_group"
    assert len(reason) < 200
    assert requirement is None or f"no_matching_group: {requirement}" in reason
    assert nearest is None or (nearest in reason if nearest else "nearest" not in reason)


def test_requirements_are_told_in_the_order_of_the_document() -> None:
    def reason(*constraints: object) -> str:
        return play(groups=ZONES, jobs=[job("j", constraints=list(constraints))]).reason("j")

    wrong = [
        {"key": key, "operator": "EQ", "values": ["nothing"]}
        for key in ("rack", "region", "zone", "capacity_type", "device_variant")
    ]
    told = [reason(*wrong[:count]).removeprefix("no_matching_group: ") for count in range(1, 6)]
    assert [text.split(":")[0] for text in told] == ["attribute", "region", "zone", "capacity type", "device"]


def test_a_very_long_name_is_cut() -> None:
    played = play(groups=ZONES, jobs=[job("j", constraints=["x" * 500])])

    assert len(played.reason("j")) < 200


# -- log line and age


def run(autoscaler: object, at: float, *entries: DemandEntry) -> list[object]:
    return build_job_pending_hints(autoscaler.run_once(list(entries), {}, at))  # type: ignore[attr-defined]


def test_the_log_line_tells_code_job_request_and_groups() -> None:
    autoscaler = make_autoscaler({"t": ScalingGroup(tpu("t", max_slices=0))})
    (hint,) = run(autoscaler, 0, DemandEntry(resources={"tpu": 1}, constraints=["v5-8"], job_id="a"))

    assert hint.unsatisfied  # type: ignore[attr-defined]
    assert hint.log_line == (  # type: ignore[attr-defined]
        "Unsatisfied autoscaler demand: insufficient_resources: job=a, requested=TPU-v5-8, available_groups=1"
    )


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (DemandEntry(resources={"tpu": {"version": "v5", "topology": "2x4"}}), "TPU-v5-8"),
        (DemandEntry(resources={"gpu": {"variant": "H100", "count": 8}}), "GPU-h100"),
        (DemandEntry(resources={"gpu": 1}), "GPU"),
        (DemandEntry(resources={"cpu": 1}), "CPU"),
    ],
)
def test_the_request_is_told_by_device_and_variant(entry: DemandEntry, words: str) -> None:
    autoscaler = make_autoscaler({"t": ScalingGroup(tpu("t", max_slices=0))})
    (hint,) = run(autoscaler, 0, entry)

    assert hint.requested == words  # type: ignore[attr-defined]


def test_a_hint_is_as_old_as_its_code() -> None:
    autoscaler = make_autoscaler({"t": ScalingGroup(tpu("t", max_slices=1))})
    first, second = DemandEntry(resources={"tpu": 1}, job_id="a"), DemandEntry(resources={"tpu": 1}, job_id="b")

    ages = []
    for at in (0, 10, 20):
        hints = {hint.job_id: hint for hint in run(autoscaler, at, first, second)}  # type: ignore[attr-defined]
        ages.append({name: (hint.code, hint.since) for name, hint in hints.items()})

    blocked = (HintCode.TIER_BLOCKED, 0)
    assert ages == [
        {"a": (HintCode.SCALING_UP, 0), "b": blocked},
        {"a": (HintCode.WAITING_FOR_WORKERS, 10), "b": blocked},
        {"a": (HintCode.WAITING_FOR_WORKERS, 10), "b": blocked},
    ]
