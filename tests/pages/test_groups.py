"""The list of groups: what each holds, why it does not grow, filtered and sorted by the address."""

import re
from collections.abc import Callable
from datetime import datetime

import pytest
from django.test import Client

from iris_web.pages.groups import natural
from scaling.models import Group, QuotaPool
from scaling.testing import builders
from tests.pages.conftest import Get


@pytest.fixture
def cluster(db: None, now: datetime) -> dict[str, Group]:
    pool = QuotaPool.objects.create(name="p/1", limit=64)
    made = {
        "tpu-8": builders.make_group("tpu-8", max_slices=4, quota_pool=pool, allocation_tier=1),
        "tpu-16": builders.make_group("tpu-16", zone="us-west4-a", device_variant="v5litepod-16", max_slices=9),
        "gpu": builders.make_group("gpu", zone="", device_type="gpu", device_variant="h100", devices_per_worker=8),
        "new": builders.make_group("new", device_type="cpu", device_variant="", devices_per_worker=0),
    }
    builders.make_status(made["tpu-8"], now, assigned=3, deficit=1, quota_remaining=12)
    builders.make_status(made["tpu-16"], now, "STOCKOUT", stockout_until=builders.after(now, 90))
    builders.make_status(made["gpu"], now, "PAUSED")
    builders.make_slice(made["tpu-8"], now, idle=None)
    builders.make_slice(made["tpu-8"], now, "BOOTING")
    return made


def names(client: Client, address: str) -> list[str]:
    """The groups of the table, in its order."""
    page = client.get(address).content.decode()
    return re.findall(r'<th scope="row"><a href="/groups/([^/"]+)/"', page)


def test_a_row_tells_state_slices_limits_and_demand(cluster: dict[str, Group], see: Get) -> None:
    text = see("/groups/")
    assert "1 used 1 booting" in text and "2 of 4" in text
    assert "3 tasks routed here 1 slice short" in text and "12" in text
    assert "stockout ends in 1 min 30 s" in text
    assert "not evaluated" in text and "4 groups" in text


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("?q=TPU", ["tpu-8", "tpu-16"]),
        ("?q=h100", ["gpu"]),
        ("?outcome=blocked", ["gpu", "tpu-16"]),
        ("?outcome=STOCKOUT", ["tpu-16"]),
        ("?outcome=none", ["new"]),
        ("?family=tpu:v5e", ["tpu-16"]),
        ("?family=cpu:cpu", ["new"]),
        ("?zone=us-west4-a", ["tpu-16"]),
        ("?zone=-", ["gpu"]),
        ("?pool=p/1", ["tpu-8"]),
        ("?platform=nowhere", []),
        ("?q=tpu&outcome=AVAILABLE", ["tpu-8"]),
    ],
)
def test_filters_are_in_the_address(
    address: str, expected: list[str], cluster: dict[str, Group], sign_in: Callable[[str], Client]
) -> None:
    assert names(sign_in("viewer"), f"/groups/{address}") == expected


@pytest.mark.parametrize(
    ("sort", "first"),
    [("name", "gpu"), ("-name", "tpu-16"), ("-held", "tpu-8"), ("max", "tpu-8"), ("-max", "tpu-16"),
     ("-assigned", "tpu-8"), ("zone", "gpu"), ("-outcome", "new")],
)  # fmt: skip
def test_columns_sort(sort: str, first: str, cluster: dict[str, Group], sign_in: Callable[[str], Client]) -> None:
    found = names(sign_in("viewer"), f"/groups/?sort={sort}")
    assert len(found) == 4
    assert found[0] == first


def test_names_sort_as_people_count() -> None:
    assert sorted(["v5p-128", "v5p-8", "v5p-64", "v4"], key=natural) == ["v4", "v5p-8", "v5p-64", "v5p-128"]


def test_a_head_says_how_it_is_sorted_and_turns_round(
    cluster: dict[str, Group], sign_in: Callable[[str], Client]
) -> None:
    page = sign_in("viewer").get("/groups/?sort=-held").content.decode()
    assert 'aria-sort="descending"><a href="?sort=held"' in page
    assert 'aria-sort="ascending"' not in page


def test_no_hit_is_not_the_same_as_no_groups(cluster: dict[str, Group], see: Get) -> None:
    assert "No group is like that" in see("/groups/?q=nothing")
    assert "No groups yet" not in see("/groups/?q=nothing")


def test_a_filter_that_cannot_be_meant_is_said(cluster: dict[str, Group], see: Get) -> None:
    assert "State: there is no “OUT”" in see("/groups/?outcome=OUT")


def test_a_hundred_groups_make_a_page(db: None, sign_in: Callable[[str], Client]) -> None:
    for number in range(103):
        builders.make_group(f"g{number}")
    client = sign_in("viewer")
    assert len(names(client, "/groups/")) == 100
    assert names(client, "/groups/?page=2") == ["g100", "g101", "g102"]
    assert 'rel="prev"' in client.get("/groups/?page=2").content.decode()


def test_hostile_names_are_shown_as_text(db: None, sign_in: Callable[[str], Client]) -> None:
    builders.make_group("<script>alert(1)</script>")
    page = sign_in("viewer").get("/groups/").content.decode()
    assert "<script>alert" not in page and "&lt;script&gt;" in page


def test_a_short_cause_does_not_hide_the_one_behind_it(
    cluster: dict[str, Group], now: datetime, see: Get, sign_in: Callable[[str], Client]
) -> None:
    """A back-off of 14 s before a stock-out of 13 min: the outcome stays the first, people read both."""
    group = cluster["tpu-8"]
    ends = {"BACKOFF": builders.after(now, 14), "STOCKOUT": builders.after(now, 780)}
    status = builders.make_status(group, now, "BACKOFF", also=("STOCKOUT", "TIER_BLOCKED"))
    for check in status.checks:
        if check["outcome"] in ends:
            check["until"] = ends[check["outcome"]].isoformat()
        elif check["blocked"]:
            check["detail"] = "tier 1 of pool p/1 is closed in zone us-east5-a"
    status.backoff_expires_at, status.stockout_until = ends["BACKOFF"], ends["STOCKOUT"]
    status.save()
    both = [{"group": group.name, "outcome": "BACKOFF", "until": ends["BACKOFF"].isoformat()}]
    job = builders.make_job(now, "train", spec={"resources": {"tpu": {"variant": group.device_variant}}, "tasks": 1})
    builders.make_hint(job, now, text="tpu-8 BACKOFF", blocked_by=both)
    builders.make_marker(group, now, until=ends["STOCKOUT"])
    text = see("/groups/?q=tpu-8")
    assert "backoff ends in 14 s then stockout for 13 min" in text and "then tier blocked" not in text
    assert names(sign_in("viewer"), "/groups/?outcome=STOCKOUT") == ["tpu-8", "tpu-16"]
    assert "2 stockout (1 behind another cause)" in see("/")
    page = see(f"/groups/{group.name}/")
    assert "backoff ends in 14 s, then stockout until" in page
    assert "TIER_BLOCKED blocks too Tier 1 of pool p/1 is closed in zone us-east5-a by its own stock-out." in page
    page = see("/demand/demo:train/")
    assert "The one group that fits it: backoff, then stockout" in page
    assert "Until 2026-01-01 12:13:00 UTC, 13 min from now" in page and "And tier blocked" not in page
    for address in ("/demand/", "/", "/demand/demo:train/"):
        assert "tpu-8 BACKOFF (then stockout for 13 min)" in see(address)
