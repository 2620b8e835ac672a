"""What a refused create means: the published messages, our own, and the shapes an error can come in."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling.autoscaler.failure_rules import Failure, FailureClass, classify_create_failure, diagnose_failure
from scaling.autoscaler.failure_table import RULES
from tests.services.inputs import CASES, published

OWN_MESSAGES = Path(__file__).with_name("cloud_messages.tsv")

STOCKOUT = 'There is no more capacity in the zone "us-east5-b"'
QUOTA = "Quota limit 'TPUV5sPerProject' has been exceeded. Limit: 24 in region us-east9."


def messages(path: Path) -> list[tuple[str, str]]:
    """(class, message) of each row; comments and the title row are left out."""
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines() if line and line[0] != "#"]
    return [(row[1], row[2]) for row in rows if row[0] != "provider"]


def misses(path: Path) -> list[str]:
    return [
        f"{wanted}, not {classify_create_failure(text)}: {text}"
        for wanted, text in messages(path)
        if classify_create_failure(text) != wanted
    ]


def test_every_published_message_gets_its_class() -> None:
    assert misses(published(CASES / "cloud_errors.tsv")) == []


def test_every_message_of_our_own_collection_gets_its_class() -> None:
    assert len(messages(OWN_MESSAGES)) > 500
    assert misses(OWN_MESSAGES) == []


def test_a_class_survives_line_breaks_and_a_sentence_around_the_message() -> None:
    for wanted, text in messages(OWN_MESSAGES):
        broken = "launch of slice-1 did not work:\n" + re.sub(r" (?=\w)", "\n  ", text)
        assert classify_create_failure(broken) == wanted, broken


def test_a_class_equals_its_word() -> None:
    assert classify_create_failure(STOCKOUT) == "stockout"
    assert isinstance(classify_create_failure(STOCKOUT), FailureClass)
    assert {member.value for member in FailureClass} == {"stockout", "transient", "quota", "permanent"}


@pytest.mark.parametrize("text", ["", "   ", "\n", "something odd happened", None, {}, [], b"", "🦥", "0", 17])
def test_unknown_and_empty_texts_are_transient(text: object) -> None:
    assert diagnose_failure(text).failure_class == "transient"
    assert not diagnose_failure(text).rate_limited


# -- words beat codes


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("RESOURCE_EXHAUSTED: nvidia-tesla-a100 not available in us-east1", "stockout"),
        ("RESOURCE_EXHAUSTED: Quota 'TPUS' exceeded. Limit: 8.0 in zone us-east9-b.", "quota"),
        ("RESOURCE_EXHAUSTED: too many requests", "transient"),
        ("RESOURCE_EXHAUSTED", "transient"),
        ("403 Forbidden: you have exceeded your instance quota", "quota"),
        ("403 Forbidden: out of host capacity", "stockout"),
        ("403: Required 'tpu.nodes.create' permission", "permanent"),
        ("429: the zone does not have enough resources", "stockout"),
        ("500: Image could not be found", "permanent"),
        ("InternalError: the instance type is sold out", "stockout"),
        ("PERMISSION_DENIED: quota exceeded for the project", "quota"),
        ("INVALID_ARGUMENT: there is no capacity for v5p-128", "stockout"),
        ("NOT_FOUND: no GPUs are available in the region", "stockout"),
        ("UnsupportedOperation: we do not have sufficient capacity", "stockout"),
        ("PERMISSION_DENIED", "permanent"),
        ("NOT_FOUND", "permanent"),
        ("INVALID_ARGUMENT", "permanent"),
        ("UNAVAILABLE", "transient"),
    ],
)
def test_the_words_decide_and_a_code_only_where_it_stands_alone(text: str, wanted: str) -> None:
    assert classify_create_failure(text) == wanted


@pytest.mark.parametrize(
    "spelling", ["InsufficientInstanceCapacity", "INSUFFICIENT_INSTANCE_CAPACITY", "insufficient-instance-capacity"]
)
def test_a_code_reads_like_the_words_it_is_made_of(spelling: str) -> None:
    assert classify_create_failure(spelling) == classify_create_failure("insufficient instance capacity") == "stockout"


def test_addresses_and_resource_paths_in_a_text_say_nothing() -> None:
    text = "creation failed, see https://cloud.example/docs/quota-exceeded projects/quota/zones/stockout-a"
    assert classify_create_failure(text) == "transient"


def test_how_often_the_client_tried_is_not_a_limit() -> None:
    text = "An error occurred (503) when calling RunInstances (reached max retries: 4): Service Unavailable"
    assert classify_create_failure(text) == "transient"


# -- details


@pytest.mark.parametrize(
    "text",
    [
        "Quota exceeded for quota metric 'Create requests' and limit 'Create requests per minute per region'",
        "Rate exceeded (Error Code: Throttling)",
        "Maximum number of CreateNode requests per minute",
        "429 Too Many Requests",
        "rate_limit_exceeded: limit of 3600 requests per hour reached",
    ],
)
def test_a_limit_on_the_pace_of_calls_is_transient_and_marked_so(text: str) -> None:
    failure = diagnose_failure(text)
    assert (failure.failure_class, failure.rate_limited) == ("transient", True)
    assert failure.limit is None


@pytest.mark.parametrize(
    ("text", "limit", "metric"),
    [
        (QUOTA, 24, "TPUV5sPerProject"),
        (json.dumps({"error": {"code": 429, "message": QUOTA}}), 24, "TPUV5sPerProject"),
        (json.dumps({"body": json.dumps({"message": QUOTA.replace("'", '"')})}), 24, "TPUV5sPerProject"),
        ("Quota 'GPUS_ALL_REGIONS' exceeded.  Limit: 0.0 globally.", 0, "GPUS_ALL_REGIONS"),
        ("Quota limit 'X' has been exceeded. Limit: 1,024 in zone z.", 1024, "X"),
        ("Quota CPUS_PER_VM_FAMILY exceeded. Limit: 12.0 in region r.", 12, "CPUS_PER_VM_FAMILY"),
        ("You have requested more vCPU capacity than your current vCPU limit of 96 allows", 96, None),
        ("You have requested more instances (4) than your current instance limit of 2 allows", 2, None),
        ("The request for 1 K80 accelerators exceeds the allowed maximum of 0", 0, None),
        ("Your quota allows for 0 more running instance(s). You requested at least 1", None, None),
        (
            "exceeding approved Low Priority Cores quota. Current Limit: 0, Current Usage: 0, Additional Required: 32, "
            "(Minimum) New Limit Required: 32.",
            0,
            "Low Priority Cores",
        ),
        ("exceeding approved Cores quota. (Minimum) New Limit Required: 32.", None, "Cores"),
        ("service limit 'ml.p4d.24xlarge usage' is 0 Instances, quota reached", 0, "ml.p4d.24xlarge usage"),
        ("Quota exceeded for instances: Requested 1, but already used 10 of 12 instances", 12, None),
        ("Quota exceeded for cores, ram: Requested 1, 2, but already used 10, 5 of 10, 20480 cores, ram", None, None),
        ("exceeded quota: q, requested: limits.cpu=1, used: limits.cpu=5426m, limited: limits.cpu=6", 6, "limits.cpu"),
        (
            "insufficient quota for nvidia.com/gpu in flavor h100, request > maximum capacity (16 > 8)",
            8,
            "nvidia.com/gpu",
        ),
        ("Insufficient 'IN_USE_ADDRESSES' quota. Requested 3.0, available 0.0.", None, "IN_USE_ADDRESSES"),
        ("Project has 0 quota for preemptible TPUs", 0, None),
        ("Quota exceeded.", None, None),
    ],
)
def test_a_quota_refusal_gives_the_limit_it_states_and_the_metric_it_names(
    text: str, limit: float | None, metric: str | None
) -> None:
    failure = diagnose_failure(text)
    assert (failure.failure_class, failure.limit, failure.metric) == ("quota", limit, metric)


@pytest.mark.parametrize(
    "text",
    [
        "409 The resource 'projects/p/zones/z/instances/slice-1' already exists",
        "AlreadyExistsException",
        "server name is already used (uniqueness_error)",
    ],
)
def test_a_taken_name_is_told_apart_and_is_no_trouble_of_the_group(text: str) -> None:
    failure = diagnose_failure(text)
    assert (failure.failure_class, failure.already_exists) == ("transient", True)


def test_a_used_address_is_not_a_taken_name() -> None:
    assert not diagnose_failure("The IP address 10.0.0.7 is already in use by another machine").already_exists


# -- any shape of error


class Broken(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def caused(outer: Exception, inner: Exception) -> Exception:
    try:
        try:
            raise inner
        except Exception as error:
            raise outer from error
    except Exception as error:
        return error


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError(STOCKOUT),
        RuntimeError(503, {"message": STOCKOUT}),
        caused(RuntimeError("the create failed"), ValueError(STOCKOUT)),
        caused(RuntimeError("a"), caused(RuntimeError("b"), OSError(STOCKOUT))),
        ExceptionGroup("both zones", [RuntimeError("odd"), RuntimeError(STOCKOUT)]),
        {"error": {"errors": [{"message": STOCKOUT}]}},
        [{"code": 8}, STOCKOUT],
        json.dumps({"error": {"message": STOCKOUT}}),
        STOCKOUT.encode(),
        bytearray(STOCKOUT, "utf-8"),
    ],
)
def test_the_words_are_found_in_any_shape_of_error(error: object) -> None:
    assert classify_create_failure(error) == "stockout"


def test_the_text_is_kept_as_it_came() -> None:
    assert diagnose_failure(STOCKOUT) == Failure(
        FailureClass.STOCKOUT, False, None, None, False, STOCKOUT, "the zone has no such hardware left"
    )


def test_an_exception_that_cannot_be_printed_is_transient() -> None:
    assert classify_create_failure(Broken()) == "transient"


def test_errors_that_hold_themselves_or_crowds_of_nothing_come_to_an_end() -> None:
    loop: dict[str, object] = {}
    loop["again"] = loop
    crowd: object = None
    for _ in range(8):
        crowd = [crowd] * 100
    error = RuntimeError("odd")
    error.__cause__ = error
    assert [classify_create_failure(each) for each in (loop, crowd, error)] == ["transient"] * 3


def test_a_huge_text_is_cut_and_its_end_still_counts() -> None:
    failure = diagnose_failure("x " * 5_000_000 + STOCKOUT)
    assert failure.failure_class == "stockout"
    assert len(failure.text) < 8_100


@given(
    st.lists(
        st.sampled_from(["no", "not", "quota", "limit", "exceeded", "capacity", "zone", "in", "9", ";"]), max_size=4000
    )
)
def test_no_crowd_of_the_tables_own_words_takes_long(words: list[str]) -> None:
    assert classify_create_failure(" ".join(words)) in FailureClass


# -- the table itself


def test_every_row_says_what_it_means_and_why() -> None:
    assert len({rule.meaning for rule in RULES}) == len(RULES)
    assert all(rule.meaning and rule.why.endswith(".") and rule.phrases for rule in RULES)


def test_no_phrase_is_one_messages_text() -> None:
    """A phrase as long as a sentence would be one message's text, not a meaning."""
    for rule in RULES:
        for phrase in rule.phrases:
            fixed = re.sub(r"\([^()]*\)\S*|\.{2,3}", " ", re.sub(r"\([^()]*\)", " ", phrase))
            assert len(fixed.split()) <= 6, phrase


def test_no_row_looks_at_a_status_number() -> None:
    assert not [p for rule in RULES for p in rule.phrases if re.search(r"[1-9][0-9]{2}(?! seconds)", p)]
