"""One job: why is it pending, and what would unblock it?"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from iris_web.live.times import utc_text
from iris_web.pages.answers import ANSWERS
from iris_web.pages.halts import SHOWN_ONLY
from iris_web.pages.remedies import REMEDIES
from iris_web.pages.tiers import tier_wait
from scaling.autoscaler.words import HintCode, Outcome
from scaling.models import Group, GroupStatus, Job, QuotaPool
from scaling.testing import builders
from tests.pages.conftest import Get


def make(now: datetime, group_outcome: str = "AVAILABLE", **spec: Any) -> tuple[Group, Job]:
    group = builders.make_group("tpu-v5p-8", max_slices=8)
    builders.make_status(group, now, group_outcome)
    return group, builders.make_job(now, "train", spec={"resources": {"tpu": {"variant": "v5p-8"}}, "tasks": 1, **spec})


def test_every_hint_code_has_advice_and_every_outcome_an_answer() -> None:
    assert set(ANSWERS) == {code.value for code in HintCode}
    assert set(REMEDIES) == {*(outcome.value for outcome in Outcome), *SHOWN_ONLY}


def test_the_hint_its_since_and_the_request_are_shown(db: None, now: datetime, see: Get) -> None:
    _, job = make(now)
    blocked_by = [{"group": "tpu-v5p-8", "outcome": "STOCKOUT", "until": None}]
    since = builders.before(now, 95)
    builders.make_hint(job, now, "tier_blocked", "tpu-v5p-8 STOCKOUT", since=since, blocked_by=blocked_by)
    text = see("/demand/demo:train/")
    assert (
        "The one group that fits it: stockout It has been so for 1 min 35 s. What would open it stands below." in text
    )
    assert (
        "In the planner's words: tpu-v5p-8 STOCKOUT groups blocked; in metrics, the API and logs tier_blocked" in text
    )
    assert '"variant": "v5p-8"' in text


def test_groups_that_are_blocked_alike_are_counted_as_one_kind_however_many_they_are(
    db: None, now: datetime, see: Get, monkeypatch: pytest.MonkeyPatch
) -> None:
    group, job = make(now)
    checks = builders.make_checks("BACKOFF", also=("STOCKOUT",))
    for check in checks:
        if check["blocked"]:
            check["until"] = builders.after(now, 60 if check["outcome"] == "BACKOFF" else 600).isoformat()
    names = [f"g-{number}" for number in range(60)]
    groups = Group.objects.bulk_create(
        Group(name=name, platform=group.platform, device_type="tpu", device_variant="v5p-8") for name in names
    )
    GroupStatus.objects.bulk_create(GroupStatus(group=row, at=now, outcome="BACKOFF", checks=checks) for row in groups)
    blocked_by = [{"group": name, "outcome": "BACKOFF", "until": None} for name in names]
    builders.make_hint(job, now, "tier_blocked", "g-0 BACKOFF", blocked_by=blocked_by)
    start = "None of the 60 groups that fit it may grow: "
    assert f"{start}60 backoff (then stockout)" in see("/demand/demo:train/")
    monkeypatch.setattr("iris_web.pages.lasting.CHAINS_COUNTED", 59)
    assert f"{start}60 backoff " in see("/demand/demo:train/") and "60 backoff (" not in see("/demand/demo:train/")


@pytest.mark.parametrize(
    ("outcome", "advice", "link"),
    [
        ("CAPACITY_EXCEEDED", "Raise its max (now 8 slices)", "/groups/tpu-v5p-8/limits/"),
        ("PAUSED", "Resume the group.", "/groups/tpu-v5p-8/resume/"),
        ("DRAINING", "End its drain.", "/groups/tpu-v5p-8/undrain/"),
        ("STOCKOUT", "Wait until the stock-out ends", "/stockouts/"),
        ("PROBING", "Wait for its probe", ""),
        ("PLATFORM_UNREACHABLE", "Wait until its platform answers", "/settings/#platforms"),
    ],
)
def test_a_blocked_group_says_what_would_open_it(
    outcome: str, advice: str, link: str, db: None, now: datetime, sign_in: Callable[[str], Client]
) -> None:
    group, _ = make(now, outcome)
    if outcome == "PAUSED":
        Group.objects.filter(pk=group.pk).update(pause_since=now, pause_by="bo")
    if outcome == "STOCKOUT":
        link = f"/stockouts/{builders.make_marker(group, now).pk}/clear/"
    page = sign_in("admin").get("/demand/demo:train/").content.decode()
    assert advice in page and link in page


def test_everything_that_must_change_is_named_not_the_first_alone(
    db: None, now: datetime, sign_in: Callable[[str], Client], see: Get
) -> None:
    group, _ = make(now)
    Group.objects.filter(pk=group.pk).update(quota_pool=QuotaPool.objects.create(name="v5p/east", limit=64))
    builders.make_status(group, now, "CAPACITY_EXCEEDED", also=("QUOTA_EXCEEDED", "STOCKOUT"))
    text = see("/demand/demo:train/", "admin")
    assert "Raise its max (now 8 slices), or wait until slices of it fall idle. Edit limits" in text
    assert "And quota exceeded: Raise the limit of quota pool v5p/east (now 64)" in text
    assert "And stockout: Wait until the stock-out ends" in text
    assert "/quotapool/" not in sign_in("viewer").get("/demand/demo:train/").content.decode()


def test_a_hint_that_is_not_of_the_stored_chain_names_what_it_says_alone(db: None, now: datetime, see: Get) -> None:
    group, job = make(now)
    builders.make_status(group, now, "CAPACITY_EXCEEDED", also=("QUOTA_EXCEEDED",))
    blocked_by = [{"group": group.name, "outcome": "BACKOFF", "until": None}]
    builders.make_hint(job, now, "tier_blocked", "...", blocked_by=blocked_by)
    assert "And quota exceeded" not in see("/demand/demo:train/")


def test_advice_a_viewer_cannot_follow_has_no_link(db: None, now: datetime, sign_in: Callable[[str], Client]) -> None:
    make(now, "CAPACITY_EXCEEDED")
    viewer = sign_in("viewer").get("/demand/demo:train/").content.decode()
    assert "Raise its max" in viewer and "limits/" not in viewer


def test_a_full_pool_names_its_limit(db: None, now: datetime, see: Get) -> None:
    group, _ = make(now, "QUOTA_EXCEEDED")
    Group.objects.filter(pk=group.pk).update(quota_pool=QuotaPool.objects.create(name="v5p/east", limit=64))
    assert "Raise the limit of quota pool v5p/east (now 64)" in see("/demand/demo:train/", "admin")
    builders.make_marker(group, now, "quota")
    assert "The platform's own quota is used up" in see("/demand/demo:train/")


def test_a_limit_says_how_far_it_must_be_raised_and_a_tier_closed_by_it_is_not_told_again(
    db: None, now: datetime, see: Get
) -> None:
    """Two slices of 4 chips are held, one is idle; a lower tier of the pool needs 24 for a slice, the job 3 at once."""
    group, _ = make(now, gang=True, tasks=3)
    pool = QuotaPool.objects.create(name="v5p/east", limit=8)
    Group.objects.filter(pk=group.pk).update(quota_pool=pool, allocation_tier=2, max_slices=3)
    lower = builders.make_group(
        "lower", device_variant="v6e-8", devices_per_worker=24, quota_pool=pool, allocation_tier=1
    )
    for idle in (None, 60):
        builders.make_slice(Group.objects.get(pk=group.pk), now, idle=idle)
    builders.make_status(group, now, "CAPACITY_EXCEEDED", also=("QUOTA_EXCEEDED", "TIER_BLOCKED"))
    checks = GroupStatus.objects.get(group=group).checks
    checks[-1]["detail"] = "tier 1 of pool v5p/east is closed"
    GroupStatus.objects.filter(group=group).update(checks=checks)
    text = see("/demand/demo:train/", "admin")
    assert "Raise its max to at least 4 (now 3 slices), or wait" in text
    least = "Raise the limit of quota pool v5p/east to at least 32 (now 8 with 0 left, one slice takes 4), or wait"
    assert f"And quota exceeded: {least}" in text and "And tier blocked" not in text
    QuotaPool.objects.update(learned_limit=4)
    assert "The platform told that quota pool v5p/east may have 4: ask there for at least 32" in see("/demand/train/")
    builders.make_marker(lower, now, "quota")
    told = "And tier blocked: Tier 2 of pool v5p/east waits for tier 1, which is closed: lower has no quota left until"
    assert told in see("/demand/demo:train/")


@pytest.mark.parametrize(
    ("group", "spec", "why"),
    [
        ({"zone": "us-west4-a"}, {"constraints": ["us-east5-a"]}, "does not meet us-east5-a"),
        ({"workers_per_slice": 4}, {"gang": True, "tasks": 6}, "6 tasks at once do not fill slices of 4 workers"),
        ({"worker_memory": 2**30}, {"resources": {"tpu": {"variant": "v5p-8"}, "memory": "4GiB"}},
         "an empty worker is too small for one task"),
        ({"max_slices": 2}, {"gang": True, "tasks": 3}, "the gang needs 3 slices, its max is 2"),
    ],
)  # fmt: skip
def test_a_group_that_can_never_serve_it_says_why(
    group: dict[str, Any], spec: dict[str, Any], why: str, db: None, now: datetime, see: Get
) -> None:
    found, _ = make(now, **spec)
    Group.objects.filter(pk=found.pk).update(**group)
    text = see("/demand/demo:train/")
    assert why in text and "No group can serve it as it is." in text


def test_groups_of_other_devices_are_only_counted(db: None, now: datetime, see: Get) -> None:
    make(now)
    builders.make_group("h100", device_type="gpu", device_variant="h100")
    builders.make_group("v6e", device_variant="v6e-8")
    assert "2 groups of other devices are no candidates." in see("/demand/demo:train/")


@pytest.mark.parametrize("written", [datetime.isoformat, datetime.timestamp])
def test_what_the_planner_said_of_a_group_wins_over_its_general_state(
    written: Callable[[datetime], object], db: None, now: datetime, see: Get
) -> None:
    _, job = make(now, "AVAILABLE")
    until = written(builders.after(now, 300))
    builders.make_hint(job, now, blocked_by=[{"group": "tpu-v5p-8", "outcome": "BACKOFF", "until": until}])
    text = see("/demand/demo:train/")
    assert "tpu-v5p-8 backoff" in text and "5 min from now" in text


def test_a_request_that_cannot_be_meant_compares_no_group(db: None, now: datetime, see: Get) -> None:
    make(now)
    builders.make_job(now, "odd", spec={"resources": {"gpu": 1, "tpu": 1}})
    builders.make_job(now, "broken", spec=["not", "a", "mapping"])
    assert "No group is compared" in see("/demand/demo:odd/")
    assert see("/demand/demo:broken/")


def test_its_tasks_name_their_workers(db: None, now: datetime, see: Get) -> None:
    group, job = make(now)
    row = builders.make_slice(group, now, name="s-1", idle=None)
    builders.make_task(job, row.workers.get(), now)
    builders.make_task(job, row.workers.get(), now, state="lost")
    text = see("/demand/demo:train/")
    assert "s-1-0 running for 2 min tpu-v5p-8" in text and "1 lost so far" in text


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/demand/demo:train/", 200),
        ("/demand/train/", 200),
        ("/demand/other:train/", 404),
        ("/demand/twice/", 404),
        ("/demand/a:twice/", 200),
        ("/demand/nope/", 404),
        ("/demand/demo:%2Fuser%2Fjob%2F0/", 200),
        ("/demand/demo:/user/job/0/", 200),
    ],
)
def test_a_job_is_named_with_its_source_or_by_a_plain_id_that_is_unique(
    address: str, status: int, db: None, now: datetime, sign_in: Callable[[str], Client]
) -> None:
    builders.make_job(now, "train")
    builders.make_job(now, "twice", source="a")
    builders.make_job(now, "twice", source="b")
    builders.make_job(now, "/user/job/0")
    answer = sign_in("viewer").get(address)
    assert answer.status_code == status
    if "twice" in address and status == 404:
        assert b"More than one source has a job twice" in answer.content


def test_a_production_job_is_told_in_one_voice_that_only_preemptible_groups_match(
    db: None, now: datetime, see: Get
) -> None:
    group, job = make(now, tier="production")
    Group.objects.filter(pk=group.pk).update(capacity_type="preemptible")
    builders.make_hint(job, now, "tier_blocked", "only preemptible groups match a production job: tpu-v5p-8")
    text = see("/demand/demo:train/")
    assert "Only preemptible groups match, and it is a production job" in text
    assert "Let it say allow_preemptible" in text
    assert "tpu-v5p-8 preemptible Matches, but is preemptible" in text
    assert "No group can serve it" not in text and "do not fit" not in text and "does not fit" not in text


@pytest.mark.parametrize("state", ["running", "done", "cancelled"])
def test_a_job_that_does_not_wait_is_told_to_raise_nothing(state: str, db: None, now: datetime, see: Get) -> None:
    _, job = make(now, "CAPACITY_EXCEEDED")
    Job.objects.filter(pk=job.pk).update(state=state, pending_tasks=0)
    builders.make_hint(job, now, text="older", blocked_by=[{"group": "g", "outcome": "CAPACITY_EXCEEDED"}])
    text = see("/demand/demo:train/", "admin")
    assert "The one group that fits it" not in text and "older" not in see("/demand/?state=all")
    assert "1 group fits what it asks for" in text
    assert "Raise its max" not in text and "What would unblock it" not in text


def test_the_headline_counts_in_which_ways_its_groups_are_closed(db: None, now: datetime, see: Get) -> None:
    _, job = make(now)
    outcomes = {"a": "STOCKOUT", "b": "STOCKOUT", "c": "CAPACITY_EXCEEDED"}
    blocked_by = [{"group": name, "outcome": outcome, "until": None} for name, outcome in outcomes.items()]
    builders.make_hint(job, now, "tier_blocked", "...", blocked_by=blocked_by)
    text = see("/demand/demo:train/")
    assert "None of the 3 groups that fit it may grow: 2 stockout, 1 capacity exceeded" in text


def test_a_job_blocked_by_a_tier_is_told_which_tier_waits_for_which(db: None, now: datetime, see: Get) -> None:
    group, job = make(now)
    pool = QuotaPool.objects.create(name="v5p/east", limit=64)
    Group.objects.filter(pk=group.pk).update(quota_pool=pool, allocation_tier=3)
    detail = "tier 1 of pool v5p/east is closed in zone us-east5-a"
    GroupStatus.objects.filter(group=group).update(outcome="TIER_BLOCKED", detail=detail)
    builders.make_hint(job, now, blocked_by=[{"group": group.name, "outcome": "TIER_BLOCKED", "until": None}])
    told = "Tier 3 of pool v5p/east waits for tier 1, which is closed in zone us-east5-a."
    text = see("/demand/demo:train/")
    assert f"tpu-v5p-8: {told}" in text and f"tier blocked {told} It opens with that tier." in text
    lower = builders.make_group("tpu-v5p-4", device_variant="v5p-4", quota_pool=pool, allocation_tier=1)
    other = builders.make_group("tpu-v5p-2", zone="z", device_variant="v5p-2", quota_pool=pool, allocation_tier=1)
    end = builders.after(now, 600)
    builders.make_marker(lower, now, until=end)
    builders.make_marker(other, now, until=builders.after(now, 900))
    text = see("/demand/demo:train/")
    told = f"{told[:-1]}: tpu-v5p-4 is out of stock until {utc_text(end)}."
    assert f"tpu-v5p-8: {told}" in text and f"Until {utc_text(end)}, 10 min from now. {told}" in text
    builders.make_status(group, now, "TIER_BLOCKED", detail)
    assert f"TIER_BLOCKED blocks {told}" in see("/groups/tpu-v5p-8/")


@pytest.mark.parametrize(
    ("tier", "detail", "words"),
    [
        (3, "tier 1 of pool p is closed", "Tier 3 of pool p waits for tier 1, which is closed."),
        (1, "tier 1 of pool p is closed in zone z", "Tier 1 of pool p is closed by another group of it in zone z."),
        (3, "something else", "Its tier waits for a lower one of quota pool p."),
        (None, None, "Its tier waits for a lower one of quota pool p."),
    ],
)
def test_any_detail_of_a_tier_can_be_told(tier: int | None, detail: str | None, words: str) -> None:
    assert tier_wait(tier, "p", detail) == words


def test_a_done_job_shows_where_it_ran_and_for_how_long(db: None, now: datetime, see: Get) -> None:
    group, job = make(now)
    row = builders.make_slice(group, now, name="s-1", idle=5)
    for _ in range(2):
        builders.make_task(
            job, row.workers.get(), now, state="done", slice_name="s-1",
            assigned_at=builders.before(now, 130), ended_at=builders.before(now, 10),
        )  # fmt: skip
    row.workers.all().delete()
    Job.objects.filter(pk=job.pk).update(
        state="done", pending_tasks=0, done_tasks=2, submitted_at=builders.before(now, 190), finished_at=now
    )
    text = see("/demand/demo:train/")
    assert "Waited 1 min until its first task ran Ran for 2 min" in text
    assert "Where its tasks ran s-1 2 min 2 tasks done" in text
    assert "None runs now" not in text


def test_a_job_shows_what_was_bought_for_it_and_what_became_of_its_tasks(
    db: None, now: datetime, see: Get, sign_in: Callable[[str], Client]
) -> None:
    group, job = make(now)
    row = builders.make_slice(group, now, name="s-1", idle=None)
    builders.make_task(job, row.workers.get(), now, slice_name="s-1")
    both = {"shape": "TPU-v5p-8", "jobs": [{"job": "demo:first", "tasks": 1}, {"job": "demo:train", "tasks": 1}]}
    mine = {"shape": "TPU-v5p-8", "jobs": [{"job": "demo:train", "tasks": 1}]}
    reason = "for waiting tasks of train (TPU-v5p-8)"
    builders.make_action("scale_up", now, group=group.name, slice="s-1", job="train", target="source demo",
                         reason=reason, after=mine)  # fmt: skip
    builders.make_action("scale_up", now, group="shared", slice="s-2", job="first", target="source demo", after=both)
    builders.make_action("put_job", now, job="train", target="source other", actor_kind="token", actor="slurm")
    builders.make_action("slice_lost", now, group=group.name, slice="s-1", reason="worker 0 was lost")
    builders.make_action("create_failed", now, group="shared", slice="s-2", reason="there is no more capacity")
    builders.make_action("create_failed", now, group="shared", slice="s-3", reason="of somebody else")
    story = see("/demand/demo:train/").partition("What happened")[2]
    assert reason in story and "shared · s-2" in story and "worker 0 was lost" in story
    assert "create failed" in story and "there is no more capacity" in story and "of somebody else" not in story
    assert "1 task assigned" in story and "asked for" in story and "slurm" not in story
    page = sign_in("viewer").get("/actions/?job=train&kind=scale_up").content.decode()
    assert 'for waiting tasks of <a href="/demand/demo:train/">train</a> (TPU-v5p-8)' in page
