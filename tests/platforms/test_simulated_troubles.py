"""The troubles a simulated cloud can make: scripted ones, and those by a seed."""

import pytest

from scaling.autoscaler.failure_rules import FailureClass, classify_create_failure, diagnose_failure
from scaling.platforms.base import PlatformError, PlatformUnreachableError, SliceRequest
from scaling.platforms.simulated import Answer, CallKind, CloudSettings
from scaling.platforms.simulated.texts import TEXTS, Voice, fill, stockout_text, usual_metric
from tests.platforms.conftest import START, Rig, request


def refusal(rig: Rig, name: str, **changes: object) -> str:
    """The cloud's words when it refuses this create."""
    with pytest.raises(PlatformError) as caught:
        rig.buy(name, **changes)
    return str(caught.value)


# -- scripted


def test_a_stock_out_holds_in_its_zone_and_for_its_time(rig: Rig) -> None:
    rig.script.stock_out(zone="us-central1-a", for_seconds=60)
    assert "no more capacity" in refusal(rig, "a")
    rig.buy("elsewhere", zone="us-east5-a")
    rig.at = START + 59.9
    assert classify_create_failure(refusal(rig, "b")) is FailureClass.STOCKOUT
    rig.at = START + 60
    rig.buy("a")


def test_a_stock_out_can_be_of_one_variant_or_of_groups_by_pattern(rig: Rig) -> None:
    rig.script.stock_out(variant="v5p-16")
    rig.script.stock_out(group="cpu-*")
    refusal(rig, "a")
    refusal(rig, "b", group="cpu-east", device_variant="")
    rig.buy("c", device_variant="v5p-8")


def test_a_quota_counts_devices_of_what_is_not_gone_and_names_metric_limit_and_region(rig: Rig) -> None:
    rig.script.set_quota(16, pool="v5p/us-central1-a", metric="TPUV5PPerProject")
    rig.buy("a")
    rig.buy("b")
    told = diagnose_failure(refusal(rig, "c"))
    assert told.text == "Quota limit 'TPUV5PPerProject' has been exceeded. Limit: 16 in region us-central1."
    assert (told.failure_class, told.metric, told.limit) == (FailureClass.QUOTA, "TPUV5PPerProject", 16)
    rig.buy("other-pool", quota_pool="v5p/us-east5-a")
    rig.client.delete_slice("a", "iris-1")
    refusal(rig, "c")
    rig.at += rig.settings.delete_seconds
    rig.buy("c")


def test_a_rate_limit_holds_for_a_minute_and_refused_calls_do_not_count(rig: Rig) -> None:
    rig.script.limit_rate(2)
    rig.buy("a")
    rig.at += 20
    rig.buy("b")
    for _ in range(3):
        told = diagnose_failure(refusal(rig, "c"))
        assert (told.failure_class, told.rate_limited) == (FailureClass.TRANSIENT, True)
        assert told.text.startswith("429 Quota exceeded for quota metric")
    rig.at = START + 60
    rig.buy("c")
    assert [call.answer for call in rig.books.refusals()] == [Answer.RATE_LIMITED] * 3


def test_a_rule_can_let_so_many_creates_through_first_and_then_refuse_so_many(rig: Rig) -> None:
    rig.script.refuse("The {zone} is closed for {name}", count=2, after=2)
    rig.buy("a")
    rig.buy("b")
    assert refusal(rig, "c") == "The us-central1-a is closed for c"
    refusal(rig, "c")
    rig.buy("c")


def test_a_broken_call_has_no_effect(rig: Rig) -> None:
    rig.script.break_calls(CallKind.CREATE, count=1)
    with pytest.raises(PlatformUnreachableError):
        rig.buy("a")
    assert rig.books.slices() == []
    rig.buy("a")


def test_a_list_that_fails_raises_rather_than_showing_less(rig: Rig) -> None:
    rig.buy("a")
    rig.script.break_calls(CallKind.LIST, for_seconds=30, error="500 half a page")
    with pytest.raises(PlatformUnreachableError, match="500 half a page"):
        rig.listed()
    rig.buy("creates-still-work")
    rig.at += 30
    assert len(rig.listed()) == 2


def test_a_slow_call_takes_effect_before_its_answer(rig: Rig) -> None:
    seen: list[int] = []
    rig.script.slow_down(8, CallKind.CREATE, count=1)
    rig.sleep = lambda seconds: seen.append(rig.books.accepted_creates("a"))  # type: ignore[method-assign]
    rig.buy("a")
    assert seen == [1]


def test_an_answer_later_than_the_time_out_is_lost_but_the_slice_is_bought(rig: Rig) -> None:
    rig.script.slow_down(600, CallKind.CREATE, count=1)
    with pytest.raises(PlatformUnreachableError, match="No answer within 10 s"):
        rig.buy("a")
    (call,) = rig.books.calls()
    assert rig.at == START + 10
    assert rig.books.accepted_creates("a") == 1
    assert (call.answer, call.effect_at, call.answered_at) == (Answer.ACCEPTED, START, None)


def test_a_late_failure_comes_after_acceptance_with_the_clouds_words(rig: Rig) -> None:
    rig.script.fail_late(20, count=1)
    rig.buy("a")
    rig.buy("b")
    rig.at += 19
    assert rig.listed() == {"a": "BOOTING", "b": "BOOTING"}
    rig.at += 1
    found = {slice_.name: slice_ for slice_ in rig.client.list_slices("iris-1")}
    assert found["a"].state == "FAILED"
    assert classify_create_failure(found["a"].error) is FailureClass.TRANSIENT
    rig.at += 100
    assert rig.listed() == {"a": "FAILED", "b": "READY"}


def test_a_slice_that_failed_stays_until_it_is_deleted(rig: Rig) -> None:
    rig.script.fail_late(5, error='There is no more capacity in the zone "{zone}"')
    rig.buy("a")
    rig.at += 500
    (found,) = rig.client.list_slices("iris-1")
    assert (found.state, found.error) == ("FAILED", 'There is no more capacity in the zone "us-central1-a"')
    rig.client.delete_slice("a", "iris-1")
    rig.at += 5
    assert rig.listed() == {}


def test_boot_times_can_be_scripted_per_group(rig: Rig) -> None:
    rig.script.boot_in(3, group="tpu-*")
    rig.buy("a")
    rig.buy("b", group="gpu-h100")
    rig.at += 3
    assert rig.listed() == {"a": "READY", "b": "BOOTING"}


def test_calm_ends_every_rule(rig: Rig) -> None:
    rig.script.stock_out()
    rig.script.break_calls(CallKind.LIST)
    assert rig.script.calm() == 2
    rig.buy("a")
    assert rig.listed() == {"a": "BOOTING"}


# -- by chance


def seeded(seed: int) -> CloudSettings:
    return CloudSettings(
        seed=seed,
        outage_chance=0.2,
        slow_chance=0.2,
        stockout_chance=0.5,
        boot_failure_chance=0.1,
        preemptions_per_hour=6,
        silences_per_hour=6,
    )


def story(rig: Rig) -> list[object]:
    """What happens to forty creates over an hour."""
    told: list[object] = []
    for turn in range(40):
        rig.at = START + 90 * turn
        try:
            rig.buy(f"s-{turn}", zone=f"us-zone{turn % 3}-a", capacity_type="preemptible")
        except PlatformError as error:
            told.append(str(error))
    told += [(b.name, b.worker_ready_at, b.losses, b.fails_at, b.error) for b in rig.books.slices()]
    return told


def test_the_same_seed_meets_the_same_troubles_again_and_another_seed_others(rig: Rig) -> None:
    rigs = [Rig(rig.store, seeded(seed), cloud=f"{rig.cloud}-{index}") for index, seed in enumerate((7, 8))]
    again = Rig(rig.store, seeded(7), cloud=rigs[0].cloud)
    first, other = (story(each) for each in rigs)
    again.at += 1_000_000
    again.books.forget_before(again.at)
    assert first != other
    with again.store.write() as transaction:
        transaction.run("DELETE FROM slices WHERE cloud = ?", [again.cloud])
    assert story(again) == first


def test_every_kind_of_trouble_happens_by_chance(rig: Rig) -> None:
    lucky = Rig(rig.store, seeded(7), cloud="chance")
    with lucky.store.write() as transaction:
        for table in ("slices", "calls"):
            transaction.run(f"DELETE FROM {table} WHERE cloud = ?", ["chance"])
    story(lucky)
    answers = {call.answer for call in lucky.books.calls()}
    booked = lucky.books.slices()
    assert {Answer.ACCEPTED, Answer.REFUSED, Answer.UNREACHABLE} <= answers
    assert any(b.fails_at for b in booked)
    assert {loss.state for b in booked for loss in b.losses} == {"UNKNOWN", "NOT_FOUND"}


def test_without_a_seed_nothing_happens_by_chance(rig: Rig) -> None:
    rig.behave(outage_chance=1.0, stockout_chance=1.0, boot_failure_chance=1.0, preemptions_per_hour=1e6)
    rig.buy("a", capacity_type="preemptible")
    rig.at += 3600
    assert rig.listed() == {"a": "READY"}


def test_only_preemptible_slices_are_preempted(rig: Rig) -> None:
    rig.behave(seed=3, preemptions_per_hour=1000.0)
    rig.buy("spot", capacity_type="preemptible")
    rig.buy("kept", capacity_type="reserved")
    rig.at += 7200
    lost = {s.name: any(w.state == "NOT_FOUND" for w in s.workers) for s in rig.client.list_slices("iris-1")}
    assert lost == {"spot": True, "kept": False}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"boot_secs": 3}, "options.simulation: unknown setting 'boot_secs'"),
        ({"boot_seconds": "3"}, "options.simulation.boot_seconds: expected a number, 0 or more, got '3'"),
        ({"boot_seconds": -1}, "expected a number, 0 or more, got -1"),
        ({"boot_seconds": float("nan")}, "expected a number, 0 or more, got nan"),
        ({"seed": 1.5}, "options.simulation.seed: expected a whole number, got 1.5"),
        ({"seed": True}, "expected a whole number, got True"),
        ([], "expected a mapping of settings"),
    ],
)
def test_wrong_settings_are_named_by_place(options: object, told: str) -> None:
    with pytest.raises(PlatformError) as caught:
        CloudSettings.from_options(options, "options.simulation")
    assert told in str(caught.value)


# -- the words


REQUESTS: dict[Voice, SliceRequest] = {
    Voice.TPU: request("iris-tpu-1"),
    Voice.COMPUTE: request(
        "iris-gpu-1", device_type="gpu", device_variant="h100", devices_per_worker=8, capacity_type="preemptible"
    ),
    Voice.KUBERNETES: request("iris-gpu-2", device_type="gpu", device_variant="h100", zone="US-EAST-02A"),
}

EXPECTED = {
    "quota": (FailureClass.QUOTA, False),
    "rate": (FailureClass.TRANSIENT, True),
    "outage": (FailureClass.TRANSIENT, False),
    "boot_failure": (FailureClass.TRANSIENT, False),
    "refused": (FailureClass.PERMANENT, False),
}


@pytest.mark.parametrize("voice", list(Voice))
@pytest.mark.parametrize("name", list(EXPECTED))
def test_every_text_means_what_it_is_used_for(voice: Voice, name: str) -> None:
    wanted = REQUESTS[voice]
    told = diagnose_failure(fill(getattr(TEXTS[voice], name), wanted, usual_metric(wanted), 64))
    assert (told.failure_class, told.rate_limited) == EXPECTED[name], told


@pytest.mark.parametrize("voice", list(Voice))
def test_every_stock_out_text_is_a_stock_out_and_a_taken_name_is_known(voice: Voice) -> None:
    for template in TEXTS[voice].stockout:
        told = fill(template, REQUESTS[voice])
        assert "{" not in told
        assert classify_create_failure(told) is FailureClass.STOCKOUT, told
    assert stockout_text(TEXTS[voice], REQUESTS[voice]) in TEXTS[voice].stockout
    assert diagnose_failure(fill(TEXTS[voice].exists, REQUESTS[voice])).already_exists
