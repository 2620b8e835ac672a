"""Sections 1, 3 and 4: quota pools, learned limits and the order of tiers."""

from tests.autoscaler.cluster import QUOTA, SLOW, booting, cpu, job, marker, play, ready, tpu

POOL = [{"name": "p", "limit": 1000}]


def tier(name: str, level: int | None, zone: str = "z1", **fields: object) -> dict[str, object]:
    return tpu(name, f"v5p-{8 * (level or 9)}", zone=zone, quota_pool="p", **fields) | (
        {} if level is None else {"allocation_tier": level}
    )


def closed(groups: list[object], markers: list[object], limit: int = 1000, **more: object) -> list[str]:
    """The groups that a tier closes."""
    pools = [{"name": "p", "limit": limit}, {"name": "q", "limit": 1000}]
    played = play(groups=groups, markers=markers, quota_pools=pools, **more)
    return [name for name in played.output["cycles"][0]["groups"] if played.outcome(name) == "TIER_BLOCKED"]


def test_a_stock_out_closes_its_tier_and_above_in_its_zone_only() -> None:
    groups = [tier("a1", 1), tier("a2", 2), tier("b2", 2), tier("a3", 3), tier("c3", 3, zone="z2")]

    assert closed(groups, [marker("a2", "stockout")]) == ["a3", "b2"]


def test_a_quota_marker_closes_its_tier_and_above_in_every_zone() -> None:
    groups = [tier("a1", 1), tier("a2", 2), tier("a3", 3), tier("c3", 3, zone="z2"), tier("c1", 1, zone="z2")]

    assert closed(groups, [marker("a2", "quota", until=240)]) == ["a3", "c3"]


def test_the_lowest_closed_tier_counts() -> None:
    groups = [tier("a1", 1), tier("a2", 2), tier("a3", 3)]

    assert closed(groups, [marker("a3", "stockout"), marker("a1", "stockout")]) == ["a2"]


def test_back_off_and_refusal_close_nothing_else() -> None:
    groups = [tier("a1", 1), tier("a2", 2)]

    assert closed(groups, [marker("a1", "backoff", until=100)]) == []
    assert closed(groups, [marker("a1", "permanent")]) == []


def test_a_marker_that_has_run_out_closes_nothing() -> None:
    assert closed([tier("a1", 1), tier("a2", 2)], [marker("a1", "stockout", since=-900, until=-1)]) == []


def test_groups_without_pool_or_tier_neither_block_nor_are_blocked() -> None:
    groups = [tier("none", None), tpu("free", zone="z1", allocation_tier=2), tier("a1", 1), tier("a3", 3)]

    assert closed(groups, [marker("none", "stockout"), marker("free", "stockout")]) == []
    assert closed(groups, [marker("a1", "stockout")]) == ["a3"]


def test_groups_without_a_zone_are_one_zone() -> None:
    groups = [tier("a1", 1, zone=""), tier("a2", 2, zone=""), tier("b2", 2)]

    assert closed(groups, [marker("a1", "stockout")]) == ["a2"]


def test_a_tier_that_cannot_be_paid_closes_those_above_even_if_they_could() -> None:
    large = tier("a1", 1, devices_per_worker=64)
    small = tier("a2", 2, devices_per_worker=8)

    played = play(groups=[large, small], quota_pools=[{"name": "p", "limit": 32}])

    assert played.outcome("a1") == "QUOTA_EXCEEDED"
    assert played.outcome("a2") == "TIER_BLOCKED"


def test_a_closed_tier_still_serves_with_what_is_there() -> None:
    played = play(
        groups=[tier("a1", 1), tier("a2", 2)],
        quota_pools=POOL,
        markers=[marker("a1", "stockout")],
        slices=[ready("r", "a2")],
        jobs=[job("j", 2, constraints=["a2"])],
    )

    assert played.job("j")["running"] == 1
    assert "TIER_BLOCKED" in played.reason("j")


def test_a_hint_behind_a_closed_tier_names_tier_and_pool_in_the_check() -> None:
    played = play(groups=[tier("a1", 1), tier("a2", 2)], quota_pools=POOL, markers=[marker("a1", "stockout")])

    assert played.group("a2")["checks"]["TIER_BLOCKED"]


def test_cpu_slices_count_by_workers() -> None:
    played = play(
        groups=[cpu("c", cores=1, quota_pool="p", workers_per_slice=2)],
        quota_pools=[{"name": "p", "limit": 5}],
        jobs=[job("j", 9, {"cpu": 1})],
    )

    assert played.up("c") == 2


def test_the_last_units_go_to_demand_then_floors_then_buffers_by_priority_and_name() -> None:
    groups = [
        tpu("buffered", zone="z0", buffer_slices=2, priority=1, quota_pool="p"),
        tpu("floor-b", zone="z1", min_slices=2, priority=5, quota_pool="p"),
        tpu("floor-a", zone="z2", min_slices=2, priority=5, quota_pool="p"),
        tpu("wanted", zone="z3", priority=900, quota_pool="p"),
    ]

    def ups(limit: int) -> list[int]:
        played = play(
            groups=groups, quota_pools=[{"name": "p", "limit": limit}], jobs=[job("j", 2, constraints=["z3"])]
        )
        return [played.up(name) for name in ("wanted", "floor-a", "floor-b", "buffered")]

    assert ups(16) == [2, 0, 0, 0]
    assert ups(40) == [2, 2, 1, 0]
    assert ups(48) == [2, 2, 2, 0]
    assert ups(56) == [2, 2, 2, 1]


def test_a_pool_without_a_limit_is_not_limited() -> None:
    played = play(groups=[tpu("t", quota_pool="p")], quota_pools=[{"name": "p"}], jobs=[job("j", 9)])

    assert played.up("t") == 9
    assert played.group("t")["quota_remaining"] is None


def test_slices_on_their_way_out_hold_their_quota() -> None:
    played = play(
        groups=[tpu("t", quota_pool="p")],
        quota_pools=[{"name": "p", "limit": 24}],
        slices=[ready("a", "t", idle=-500), booting("b", "t", state="TERMINATING")],
        jobs=[job("j", 9, submitted=-500)],
        cloud=SLOW,
    )

    assert played.group("t")["quota_remaining"] == 8
    assert played.up("t") == 1


def limited(text: str, limit: int | None = 512, metric: str | None = "TPUV5sPerProject", **more: object) -> object:
    pool = {"name": "p"} | ({} if limit is None else {"limit": limit}) | ({"quota_metric": metric} if metric else {})
    return play(
        groups=[tpu("t", max_slices=50, quota_pool="p")],
        quota_pools=[pool],
        cloud={"boot_seconds": 50, "fail": [{"group": "t", "after": 1, "until": 15, "error": text}]},
        jobs=[job("j", 2)],
        **({"cycles": 2, "every": 200} | more),
    )


NAMED = "Quota limit 'TPUV5sPerProject' has been exceeded. Limit: {} in region us-east9."


def test_a_limit_is_learned_from_the_pools_own_metric_and_wins_while_lower() -> None:
    assert limited(NAMED.format(24)).group("t", 1)["quota_remaining"] == 16
    assert limited(NAMED.format(9999)).group("t", 1)["quota_remaining"] == 504
    assert limited(NAMED.format(24), limit=None).group("t", 1)["quota_remaining"] == 16


def test_nothing_is_learned_from_another_metric_or_from_zero_or_without_a_metric() -> None:
    assert limited(NAMED.format(0)).group("t", 1)["quota_remaining"] == 504
    assert limited(NAMED.format(24), metric="TPUV5sPerZone").group("t", 1)["quota_remaining"] == 504
    assert limited(NAMED.format(24), metric=None).group("t", 1)["quota_remaining"] == 504


def test_a_learned_limit_is_forgotten_after_a_day() -> None:
    played = limited(NAMED.format(24), cycles=3, every=43_200)

    assert [played.group("t", n)["quota_remaining"] for n in (1, 2)] == [16, 496]


def test_an_operator_who_clears_the_marker_clears_the_limit_it_taught() -> None:
    played = limited(NAMED.format(24), events=[{"at": 100, "clear_marker": "t"}])

    assert played.group("t", 1)["quota_remaining"] == 504


def test_a_quota_refusal_of_a_limit_of_zero_lasts_an_hour() -> None:
    def outcomes(text: str) -> list[str]:
        return play(
            groups=[tpu("t")],
            cloud={"fail": [{"group": "t", "error": text}]},
            jobs=[job("j")],
            cycles=13,
            every=300,
        ).outcomes("t")

    assert outcomes(QUOTA)[1] == "AVAILABLE"  # over at its until
    assert outcomes(QUOTA.replace("64.0", "0.0"))[11:] == ["QUOTA_EXCEEDED", "AVAILABLE"]
