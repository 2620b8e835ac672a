"""What the list's JSON becomes, and what is wrong with it is said with its place."""

import json
from typing import Any

import pytest

from scaling.operations.deployment_fields import EDIT_FIELDS
from scaling.replicas.replica import Replica
from scaling.sources.gateway import FleetList, Gateway, GatewayMalformed, ListedDeployment
from tests.sources.gateway.answers import deployment, replica, settings
from tests.sources.gateway.servers import always, answer, serving


def fleet_of(body: object, *, headers: tuple[str, ...] = ()) -> FleetList:
    with serving(always(answer(body, headers=headers))) as server, Gateway(settings(server.address)) as gateway:
        return gateway.fleet(5)


def complaint(body: object, *, headers: tuple[str, ...] = ()) -> str:
    with pytest.raises(GatewayMalformed) as caught:
        fleet_of(body, headers=headers)
    return caught.value.message


def test_a_deployment_is_read_whole_with_its_replicas() -> None:
    fleet = fleet_of([deployment("d1", status="RUNNING")])
    assert fleet == FleetList(
        deployments=(
            ListedDeployment(
                id="d1",
                name="model d1",
                status="running",
                min_replicas=1,
                max_replicas=10,
                target_latency_p95_ms=500,
                target_rps=10.5,
                stabilization_window_seconds=300,
                cooldown_seconds=120,
                tolerance=0.1,
                scale_up_limit=None,
                last_request_at=1767268799.5,
                replicas=(Replica("r1", "running", True, 1767265200, 1767268795),),
            ),
        ),
        problems=(),
    )


@pytest.mark.parametrize("body", [[deployment()], {"deployments": [deployment()]}, {"data": [deployment()], "page": 1}])
def test_the_list_may_be_bare_or_within_an_object(body: object) -> None:
    assert [it.id for it in fleet_of(body).deployments] == ["d1"]


def test_an_empty_list_is_an_answer_like_any_other() -> None:
    assert fleet_of([]) == FleetList((), ())


def test_unknown_fields_are_ignored() -> None:
    listed = deployment(gpu="H100", autoscaling={"mode": "x"}, replicas=[replica(node="n1", ports=[1])])
    assert fleet_of({"deployments": [listed], "version": 7}).deployments[0].replicas is not None


def test_both_spellings_of_the_stabilisation_window_are_read() -> None:
    british = deployment(without=("stabilization_window",), stabilisation_window=60)
    assert fleet_of([british]).deployments[0].stabilization_window_seconds == 60
    assert fleet_of([deployment(stabilization_window=0)]).deployments[0].stabilization_window_seconds == 0


def test_what_is_optional_may_be_left_out() -> None:
    optional = ("name", "target_latency_p95_ms", "target_rps", "stabilization_window", "cooldown", "tolerance")
    bare = deployment(without=(*optional, "scale_up_limit", "last_request_at"), replicas=[])
    listed = fleet_of([bare]).deployments[0]
    assert (listed.name, listed.target_rps, listed.cooldown_seconds, listed.last_request_at) == ("d1", None, None, None)
    assert listed.replicas == ()


@pytest.mark.parametrize("name", ["id", "status", "min_replicas", "max_replicas"])
@pytest.mark.parametrize("how", ["absent", "null"])
def test_a_missing_field_is_named_with_its_place(name: str, how: str) -> None:
    third = deployment("d3", without=(name,)) if how == "absent" else deployment("d3", **{name: None})
    said = complaint([deployment("d1"), deployment("d2"), third])
    assert said == f"The Gateway's list is malformed: deployments[2].{name}: missing."


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"max_replicas": "10"}, "deployments[0].max_replicas: expected a whole number of 0 or more, got '10'"),
        ({"max_replicas": True}, "deployments[0].max_replicas: expected a whole number of 0 or more, got True"),
        ({"min_replicas": -1}, "deployments[0].min_replicas: expected a whole number of 0 or more, got -1"),
        ({"min_replicas": 1.5}, "deployments[0].min_replicas: expected a whole number of 0 or more, got 1.5"),
        ({"target_rps": "fast"}, "deployments[0].target_rps: expected a number of 0 or more, got 'fast'"),
        ({"target_rps": 10**400}, "deployments[0].target_rps: expected a number of 0 or more"),
        ({"cooldown": -1}, "deployments[0].cooldown: expected a number from 0 to 86,400, got -1"),
        ({"stabilization_window": 86_401}, "stabilization_window: expected a number from 0 to 86,400, got 86401"),
        ({"tolerance": 1}, "deployments[0].tolerance: expected a number from 0 to 0.99, got 1"),
        ({"scale_up_limit": 0}, "deployments[0].scale_up_limit: expected a whole number of 1 or more, got 0"),
        ({"id": "x" * 201}, "deployments[0].id: expected a text of 1 to 200 characters, got 'xxx"),
        ({"id": 2**64}, "deployments[0].id: expected a text of 1 to 200 characters, got 1.8446744073709552e+19"),
        ({"status": "x" * 51}, "deployments[0].status: expected a text of 1 to 50 characters, got 'xxx"),
        ({"id": ""}, "deployments[0].id: expected a text of 1 to 200 characters, got ''"),
        ({"id": ["d1"]}, "deployments[0].id: expected a text of 1 to 200 characters, got ['d1']"),
        ({"status": 3}, "deployments[0].status: expected a text of 1 to 50 characters, got 3"),
        ({"last_request_at": "noon"}, "deployments[0].last_request_at: expected a time in ISO 8601 or Unix seconds"),
        ({"last_request_at": 1767268799500}, "deployments[0].last_request_at: expected a time in ISO 8601 or Unix"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named_with_its_place(changed: dict[str, Any], said: str) -> None:
    assert said in complaint([deployment(**changed)])


UNSTORABLE = ["a\x00b", "a\nb", "a\x1b[31m", "a\x7f", "a\x85", "a\ud800b", "\udfff", "a\u202eb"]


@pytest.mark.parametrize("name", ["id", "status"])
@pytest.mark.parametrize("text", UNSTORABLE, ids=ascii)
def test_an_unprintable_character_in_a_deployments_field_makes_the_list_malformed(name: str, text: str) -> None:
    said = complaint([deployment("d1"), deployment("d2") | {name: text}])
    expected = "a text of one line, without invisible characters"
    assert said.endswith(f"malformed: deployments[1].{name}: expected {expected}, got {text!r}.")
    assert said.isprintable()


@pytest.mark.parametrize("changed", [*({"id": text} for text in UNSTORABLE), {"status": "a\x00"}, {"status": "x" * 51}])
def test_a_replica_that_cannot_be_stored_holds_its_own_deployment_alone(changed: dict[str, Any]) -> None:
    bad = deployment("d1", replicas=[replica("r1"), replica("r2") | changed])
    fleet = fleet_of([bad, deployment("d2")])
    assert [it.replicas is None for it in fleet.deployments] == [True, False]
    assert f"deployments[0].replicas[1].{next(iter(changed))}: expected a text" in fleet.problems[0]


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("a\x00b\n\tc", "a b c"),
        ("\ud83d chat", "chat"),
        ("\x00", "d1"),
        (7, "d1"),
        ("n" * 300, "n" * 200),
        ("Größe 7B 🦙", "Größe 7B 🦙"),
    ],
    ids=ascii,
)
def test_a_name_is_made_to_fit_rather_than_refused(name: object, read: str) -> None:
    assert fleet_of([deployment("d1", name=name)]).deployments[0].name == read


@pytest.mark.parametrize(
    ("listed", "edited", "below", "beyond"),
    [
        ("min_replicas", "min_replicas", -1, 100_001),
        ("max_replicas", "max_replicas", -1, 100_001),
        ("scale_up_limit", "scale_up_limit", 0, 100_001),
        ("stabilization_window", "stabilization_window_seconds", -1, 86_401),
        ("cooldown", "cooldown_seconds", -1, 86_401),
        ("tolerance", "tolerance", -0.01, 1.0),
    ],
)
def test_the_gateway_may_set_what_an_operator_may(listed: str, edited: str, below: float, beyond: float) -> None:
    schema = EDIT_FIELDS[edited].kind.schema()
    for bound in (schema["minimum"], schema["maximum"]):
        assert getattr(fleet_of([deployment() | {listed: bound}]).deployments[0], edited) == bound
    assert f"deployments[0].{listed}: expected" in complaint([deployment() | {listed: below}])
    if schema["type"] == ["integer", "null"]:
        # How some APIs write that there is no limit.
        for value in (beyond, 2**31 - 1, 10**40):
            assert getattr(fleet_of([deployment() | {listed: value}]).deployments[0], edited) == schema["maximum"]
    else:
        assert f"deployments[0].{listed}: expected" in complaint([deployment() | {listed: beyond}])


def test_an_id_that_comes_twice_makes_the_list_malformed() -> None:
    said = complaint([deployment("d1"), deployment("d2"), deployment("d1")])
    assert said == "The Gateway's list is malformed: deployments[2].id: 'd1' is already the id of deployments[0]."


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("down for maintenance", "expected an array, or an object with one under deployments or data"),
        ({"items": []}, "got an object with 'items'"),
        ({"deployments": None}, "deployments: expected an array, got None"),
        ({"deployments": {"d1": {}}}, "deployments: expected an array"),
        (["d1"], "deployments[0]: expected an object, got 'd1'"),
    ],
)
def test_another_shape_is_no_list(body: object, said: str) -> None:
    assert said in complaint(body)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"healthy": "yes"}, "deployments[0].replicas[1].healthy: expected true or false, got 'yes'"),
        ({"id": None}, "deployments[0].replicas[1].id: missing"),
        ({"status": None}, "deployments[0].replicas[1].status: missing"),
        ({"created": []}, "deployments[0].replicas[1].created: expected a time"),
        ({"id": "r1"}, "deployments[0].replicas: the same replica id stands in it twice"),
    ],
)
def test_wrongly_listed_replicas_hold_their_own_deployment_alone(changed: dict[str, Any], said: str) -> None:
    bad = deployment("d1", replicas=[replica("r1"), replica("r2") | changed])
    fleet = fleet_of([bad, deployment("d2")])
    assert [it.replicas is None for it in fleet.deployments] == [True, False]
    assert len(fleet.problems) == 1
    assert said in fleet.problems[0]


def test_a_replica_without_health_is_not_taken_for_an_unhealthy_one() -> None:
    bad = {name: value for name, value in replica().items() if name != "healthy"}
    assert "replicas[0].healthy: missing" in fleet_of([deployment(replicas=[bad])]).problems[0]
    pending = replica(healthy=None, status="PENDING", last_health_check=None, created=None)
    assert fleet_of([deployment(replicas=[pending])]).deployments[0].replicas == (Replica("r1", "pending"),)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("2026-01-01T12:00:00Z", 1767268800),
        ("2026-01-01T13:00:00+01:00", 1767268800),
        ("2026-01-01T12:00:00.123456789Z", 1767268800.123456),
        ("2026-01-01 12:00:00", 1767268800),
        (1767268800, 1767268800),
        (1767268800.25, 1767268800.25),
        ("", None),
        (0, None),
        ("0001-01-01T00:00:00Z", None),
        (None, None),
    ],
)
def test_times_are_iso_8601_or_unix_seconds_and_one_that_never_was_is_unknown(written: Any, seconds: Any) -> None:
    assert fleet_of([deployment(last_request_at=written)]).deployments[0].last_request_at == seconds


@pytest.mark.parametrize(
    "around",
    [
        {"has_more": True},
        {"next_cursor": "abc"},
        {"next": 2},
        {"meta": {"next_page": 2}},
        {"pagination": {"has_next": True}},
        {"partial": True},
        {"errors": ["shard 2 did not answer"]},
    ],
)
def test_a_list_that_goes_on_nobody_knows_where_is_refused(around: dict[str, Any]) -> None:
    mark = next(iter(around))
    assert mark in complaint({"deployments": [deployment()], **around})


@pytest.mark.parametrize("around", [{"total": 40}, {"meta": {"total_count": 40}}, {"total_pages": 14}])
def test_a_list_shorter_than_it_says_is_refused(around: dict[str, Any]) -> None:
    assert "not whole" in complaint({"deployments": [deployment("d1"), deployment("d2"), deployment("d3")], **around})


def test_the_signs_of_a_whole_list_do_no_harm() -> None:
    around = {"total": 1, "has_more": False, "next": None, "next_cursor": "", "error": None, "pages": 1, "errors": []}
    assert len(fleet_of({"deployments": [deployment()], **around}).deployments) == 1


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_know_are_refused(text: str) -> None:
    raw = json.dumps([deployment(target_rps=0)]).replace('"target_rps": 0', f'"target_rps": {text}').encode()
    with (
        serving(always(answer(None, raw=raw))) as server,
        Gateway(settings(server.address)) as gateway,
        pytest.raises(GatewayMalformed, match=f"no whole JSON: {text} is no JSON"),
    ):
        gateway.fleet(5)
