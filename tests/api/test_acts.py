"""Operators' and admins' acts over HTTP: each is the operation itself, with its refusals as problems."""

from datetime import timedelta

import pytest

from scaling import operations
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Action, ApiToken, Group, Marker, Platform, QuotaPool, Slice
from scaling.testing.builders import make_group, make_installation, make_marker, make_platform, make_slice
from tests.api.conftest import Api

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def group(frozen_clock: FrozenClock) -> Group:
    return make_group("g", min_slices=4, max_slices=8)


def test_a_group_is_drained_and_the_answer_shows_it(operator: Api, frozen_clock: FrozenClock) -> None:
    deadline = (frozen_clock() + timedelta(hours=1)).isoformat()
    status, told = operator.post("/groups/g/drain", {"reason": "rack move", "deadline": deadline, "version": 1})
    assert (status, told["drain_by"], told["drain_deadline"], told["version"]) == (200, "operator-token", deadline, 2)
    action = Action.objects.get(kind="drain")
    assert (action.actor_kind, action.actor, action.source, action.reason) == (
        "token",
        "operator-token",
        "api",
        "rack move",
    )


def test_an_act_needs_no_body(operator: Api) -> None:
    assert operator.call("POST", "/groups/g/drain")[0] == 200
    assert operator.call("POST", "/groups/g/undrain")[0] == 200


def test_an_act_that_changes_nothing_is_422_with_its_sentence(operator: Api) -> None:
    status, answer = operator.post("/groups/g/undrain", {})
    assert (status, answer["title"], answer["detail"]) == (422, answer["title"], "group g is not draining")


def test_a_pause_has_an_end(operator: Api, frozen_clock: FrozenClock) -> None:
    until = (frozen_clock() + timedelta(minutes=5)).isoformat()
    assert operator.post("/groups/g/pause", {"until": until})[1]["paused"] is True
    frozen_clock.advance(301)
    assert operator.get("/groups/g")[1]["paused"] is False


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_limits_are_edited_with_the_version_that_was_seen(admin: Api, method: str) -> None:
    status, told = admin.call(method, "/groups/g/limits", {"version": 1, "reason": "demand", "max_slices": 12})
    assert (status, told["max_slices"], told["version"]) == (200, 12, 2)
    assert Action.objects.get(kind="set_limits").after == {"max_slices": 12}


def test_a_price_is_a_number_both_ways(admin: Api) -> None:
    status, group = admin.call("PATCH", "/groups/g/limits", {"version": 1, "price_per_slice_hour": 12345678.1234})
    assert (status, group["price_per_slice_hour"]) == (200, 12345678.1234)


def test_a_max_below_the_min_is_refused_and_nothing_changed(admin: Api) -> None:
    status, answer = admin.post("/groups/g/limits", {"version": 1, "max_slices": 2})
    assert (status, answer["detail"]) == (400, "max_slices: expected at least min_slices (4), got 2")
    assert answer["errors"] == [{"path": "max_slices", "message": "expected at least min_slices (4), got 2"}]
    assert Group.objects.get(name="g").max_slices == 8


def test_an_edit_without_a_version_is_refused(admin: Api) -> None:
    status, answer = admin.post("/groups/g/limits", {"max_slices": 12})
    assert (status, answer["detail"]) == (400, "version: expected a value, got none")


def test_an_edit_on_an_outdated_view_is_409_with_the_version_now(admin: Api) -> None:
    admin.post("/groups/g/limits", {"version": 1, "max_slices": 12})
    status, answer = admin.post("/groups/g/limits", {"version": 1, "max_slices": 6})
    assert (status, answer["version"]) == (409, 2)
    assert "admin-token changed Max slices from 8 to 12, just now" in answer["detail"]


def test_a_group_that_is_not_there_is_404_with_the_nearest_name(operator: Api) -> None:
    make_group("tpu-v5-8")
    status, answer = operator.post("/groups/tpu-v5-88/drain")
    assert (status, answer["detail"]) == (404, 'there is no group "tpu-v5-88"; did you mean "tpu-v5-8"?')


def test_a_slice_is_drained_and_kept_after_all(operator: Api, group: Group, frozen_clock: FrozenClock) -> None:
    make_slice(group, frozen_clock(), name="s1")
    assert operator.post("/slices/s1/drain", {"reason": "bad disk"})[1]["drain_reason"] == "bad disk"
    assert operator.post("/slices/s1/undrain")[1]["drain_since"] is None
    assert Slice.objects.get(name="s1").state == "READY"


def test_a_marker_is_acknowledged_held_and_cleared(operator: Api, group: Group, frozen_clock: FrozenClock) -> None:
    marker = make_marker(group, frozen_clock())
    base = f"/markers/{marker.pk}"
    assert operator.post(f"{base}/acknowledge")[1]["detail"] == "note: expected a value, got none"
    assert operator.post(f"{base}/acknowledge", {"note": "known"})[1]["acknowledged_by"] == "operator-token"
    until = (frozen_clock() + timedelta(hours=2)).isoformat()
    assert operator.post(f"{base}/hold", {"until": until})[1]["until"] == until
    assert operator.post(f"{base}/clear", {"reason": "back"})[1]["closed_reason"] == "back"
    assert Marker.objects.get(pk=marker.pk).closed_by == "operator-token"


def test_an_acknowledgement_of_another_is_409_unless_its_version_was_seen(
    operator: Api, group: Group, frozen_clock: FrozenClock
) -> None:
    marker = make_marker(group, frozen_clock())
    operations.acknowledge_marker(Actor.user("bo"), marker.pk, "looking")
    path = f"/markers/{marker.pk}/acknowledge"
    status, answer = operator.post(path, {"note": "mine"})
    assert (status, answer["version"]) == (409, 2)
    assert "by bo at 2026-01-01 12:00:00Z: looking" in answer["detail"]
    assert operator.post(path, {"note": "mine", "version": 2})[1]["acknowledged_by"] == "operator-token"
    assert operator.post(path, {"note": "mine still"})[0] == 200


def test_a_pool_with_a_slash_in_its_name_is_edited(admin: Api) -> None:
    QuotaPool.objects.create(name="v5e/us-west4-a", limit=8, learned_limit=4)
    assert admin.post("/pools/v5e%2Fus-west4-a/forget_learned_limit")[1]["learned_limit"] is None
    assert admin.post("/pools/v5e/us-west4-a/limits", {"version": 2, "limit": 16})[1]["limit"] == 16


def test_a_platform_is_switched(admin: Api) -> None:
    make_platform("gcp", mode="observe", simulated=False)
    switched = admin.post("/platforms/gcp/mode", {"mode": "act"})[1]
    assert (switched["mode"], switched["simulated"]) == ("act", True)
    assert admin.post("/platforms/gcp/mode", {})[1]["detail"] == "mode: expected a value, got none"
    assert Platform.objects.get(name="gcp").mode == "act"


def test_everything_is_halted_and_goes_on(operator: Api) -> None:
    make_installation()
    assert operator.post("/halt", {"reason": "bill"})[1] == {"halted": True, "version": 2}
    assert operator.get("/status")[1]["halted"]["by"] == "operator-token"
    assert operator.post("/unhalt")[1]["halted"] is False


def test_a_token_is_made_used_and_revoked(admin: Api) -> None:
    status, told = admin.post("/tokens", {"name": "grafana", "role": "viewer"})
    assert (status, told["token"]["role"]) == (201, "viewer")
    assert Api(told["secret"], admin.client).get("/groups")[0] == 200
    listed = admin.get("/tokens")[1]["items"]
    assert [one["name"] for one in listed] == ["admin-token", "grafana"]
    assert not any("digest" in one or "secret" in one for one in listed)
    assert admin.post("/tokens/grafana/revoke", {"reason": "done"})[0] == 200
    assert Api(told["secret"], admin.client).get("/groups")[0] == 401
    assert ApiToken.objects.get(name="grafana").last_used_at is not None
