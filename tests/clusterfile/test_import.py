"""Cluster files in the database: what an import makes, changes and leaves alone."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from scaling.cluster_import import TEMPLATES_OPTION, ImportReport, import_cluster
from scaling.clusterfile import read_cluster
from scaling.history import Actor
from scaling.models import Action, Event, Group, Installation, Marker, Platform, QuotaPool, Slice, Source
from scaling.operations.errors import OperationRefused
from tests.clusterfile.files import REMOVED, real, small

pytestmark = pytest.mark.django_db

WHO = Actor.user("ada", Source.SHELL)
POOL_GROUP = "tpu_serving_4-us-west4-a"
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def imported(changes: dict[str, Any] | None = None, **options: Any) -> ImportReport:
    return import_cluster(WHO, read_cluster(small(changes)), **options)


def slice_of(name: str, state: str = Slice.State.READY) -> Slice:
    group = Group.objects.get(name=name)
    return Slice.objects.create(
        name=f"s-{name}"[:63], group=group, platform=group.platform, state=state, requested_at=NOW
    )


def test_the_published_tpu_cluster_is_stored_whole() -> None:
    report = import_cluster(WHO, real("iris_tpu_cluster.yaml"))
    assert (Group.objects.count(), QuotaPool.objects.count(), len(report.made("group"))) == (82, 11, 82)
    group = Group.objects.get(name="tpu_v6e-preemptible_64-us-east1-d")
    assert (group.device_variant, group.workers_per_slice, group.devices_per_worker) == ("v6e-64", 16, 4)
    assert (group.priority, group.allocation_tier, group.max_slices, group.buffer_slices) == (50, 5, 64, 0)
    assert group.quota_pool is not None and group.quota_pool.name == "v6e-preemptible/us-east1-d"
    assert (group.worker_memory, group.idle_threshold_seconds) == (720 * 10**9, 300)


def test_a_real_platform_starts_in_observe_and_simulated_until_it_has_a_client() -> None:
    imported()
    platform = Platform.objects.get()
    assert (platform.name, platform.kind, platform.mode, platform.simulated) == ("gcp", "gcp", "observe", True)
    assert platform.label_prefix == "small"
    assert platform.options["project_id"] == "example-project"
    assert platform.options[TEMPLATES_OPTION][POOL_GROUP] == {"service_account": "worker@example.invalid"}


def test_the_simulated_platform_acts_at_once() -> None:
    imported({"platform": {"simulated": {}}, "tpu_pools": {}, "scale_groups.cpu.slice_template": REMOVED})
    platform = Platform.objects.get()
    assert (platform.kind, platform.mode, platform.simulated) == ("simulated", "act", False)


def test_an_import_gives_a_new_installation_its_identity() -> None:
    imported()
    imported({"scale_groups.cpu.max_slices": 9})
    assert Installation.objects.get().identity


def test_each_thing_made_has_its_action_by_the_one_who_imported() -> None:
    imported()
    actions = Action.objects.filter(kind="import")
    assert {action.group for action in actions if action.group} == set(Group.objects.values_list("name", flat=True))
    assert {action.target for action in actions if action.target} == {
        "platform gcp",
        "loop autoscaler",
        "quota pool serving/us-west4-a",
        "quota pool serving/europe-west4-b",
    }
    made = actions.get(group=POOL_GROUP)
    assert (made.actor, made.source, made.before, made.reason) == ("ada", "shell", None, "cluster file small")
    assert made.after is not None and made.after["quota_pool"] == "serving/us-west4-a"


def test_those_who_watch_hear_of_it() -> None:
    imported()
    topics = set(Event.objects.values_list("topic", flat=True))
    assert {"groups", "platforms", "overview", "actions", f"group:{POOL_GROUP}"} <= topics


def test_the_same_file_again_changes_nothing_and_writes_no_history() -> None:
    imported()
    before = (Action.objects.count(), Event.objects.count(), list(Group.objects.values_list("version", "updated_at")))
    report = imported()
    assert report.changes == []
    assert len(report.unchanged) == Group.objects.count()
    assert before == (
        Action.objects.count(),
        Event.objects.count(),
        list(Group.objects.values_list("version", "updated_at")),
    )


def test_a_changed_file_changes_only_what_differs_and_tells_old_and_new() -> None:
    imported()
    report = imported({"scale_groups.cpu.max_slices": 9, "scale_groups.cpu.priority": 400})
    (change,) = report.changes
    assert (change.what, change.name) == ("group", "cpu-us-west4-a")
    assert (change.before, change.after) == (
        {"priority": 500, "max_slices": 6},
        {"priority": 400, "max_slices": 9},
    )
    group = Group.objects.get(name="cpu-us-west4-a")
    assert (group.max_slices, group.priority, group.version) == (9, 400, 2)
    action = Action.objects.filter(kind="import", group="cpu-us-west4-a").latest("id")
    assert (action.before, action.after) == (change.before, change.after)


def test_the_file_wins_over_what_an_operator_set_and_says_so() -> None:
    imported()
    Group.objects.filter(name="cpu-us-west4-a").update(max_slices=50)
    (change,) = imported().changes
    assert (change.before, change.after) == ({"max_slices": 50}, {"max_slices": 6})


def test_what_the_file_does_not_state_stays_as_an_operator_set_it() -> None:
    imported()
    pool = QuotaPool.objects.create(name="cpus", limit=40)
    own = {"min_slices": 2, "scale_up_rate": 3.0, "provision_timeout_seconds": 60.0, "attributes": {"rack": "r1"}}
    order = {"drain_since": NOW, "drain_by": "grace", "quota_pool": pool, "allocation_tier": 4}
    Group.objects.filter(name="cpu-us-west4-a").update(**own, **order)
    QuotaPool.objects.filter(name="serving/us-west4-a").update(limit=128)
    Platform.objects.update(mode=Platform.Mode.ACT)
    assert imported().changes == []
    group = Group.objects.get(name="cpu-us-west4-a")
    assert {name: getattr(group, name) for name in own | order} == own | order
    assert QuotaPool.objects.get(name="serving/us-west4-a").limit == 128
    assert Platform.objects.get().mode == "act"


def test_groups_that_are_not_in_the_file_are_left_alone_and_named() -> None:
    imported()
    report = imported({"tpu_pools": {}})
    assert report.left_alone == sorted(Group.objects.filter(device_type="tpu").values_list("name", flat=True))
    assert len(report.left_alone) == 4
    assert POOL_GROUP in Platform.objects.get().options[TEMPLATES_OPTION]


def test_a_dry_run_says_the_same_and_writes_nothing() -> None:
    said = imported(dry_run=True)
    assert len(said.made("group")) == 5
    assert not (
        Group.objects.exists() or Platform.objects.exists() or Action.objects.exists() or Event.objects.exists()
    )
    assert not Installation.objects.exists()
    assert imported().changes == said.changes


def test_the_kind_of_a_slice_does_not_change_under_slices_that_exist() -> None:
    imported()
    slice_of("cpu-us-west4-a")
    with pytest.raises(OperationRefused, match="capacity_type cannot change from on_demand to reserved while 1 of"):
        imported({"scale_groups.cpu.resources.capacity_type": "reserved", "tpu_pools.serving.base_priority": 99})
    assert Group.objects.get(name=POOL_GROUP).priority == 10


def test_the_kind_changes_where_no_slice_is_left() -> None:
    imported()
    slice_of("cpu-us-west4-a", Slice.State.GONE)
    imported({"scale_groups.cpu.resources.capacity_type": "reserved"})
    assert Group.objects.get(name="cpu-us-west4-a").capacity_type == "reserved"


def test_the_room_of_a_worker_may_be_corrected_under_slices() -> None:
    imported()
    slice_of("cpu-us-west4-a")
    imported({"scale_groups.cpu.resources.cpu": 16})
    assert Group.objects.get(name="cpu-us-west4-a").worker_cpu == 16


def test_a_max_below_the_floor_that_an_operator_set_is_refused_whole() -> None:
    imported()
    Group.objects.filter(name="cpu-us-west4-a").update(min_slices=5)
    with pytest.raises(
        OperationRefused, match=r"group cpu-us-west4-a: max_slices: expected at least min_slices \(5\), got 3"
    ):
        imported({"scale_groups.cpu.max_slices": 3, "tpu_pools.serving.base_priority": 99})
    assert Group.objects.get(name=POOL_GROUP).priority == 10


def permanent_marker(name: str) -> Marker:
    group = Group.objects.get(name=name)
    return Marker.objects.create(group=group, kind=Marker.Kind.PERMANENT, since=NOW, last_failure_at=NOW)


def test_an_edit_by_file_ends_the_permanent_marker_of_its_group_only() -> None:
    imported()
    edited, other = permanent_marker("cpu-us-west4-a"), permanent_marker(POOL_GROUP)
    imported({"scale_groups.cpu.max_slices": 9})
    edited.refresh_from_db()
    other.refresh_from_db()
    assert edited.closed_by == "ada" and other.closed_at is None
    cleared = Action.objects.get(kind="marker_cleared")
    assert cleared.cause is not None and cleared.cause.group == "cpu-us-west4-a"


def test_a_new_service_account_in_the_template_ends_the_permanent_markers_of_its_groups() -> None:
    imported()
    marker = permanent_marker(POOL_GROUP)
    report = imported({"tpu_pools.serving.slice_template.gcp.service_account": "other@example.invalid"})
    marker.refresh_from_db()
    assert marker.closed_at is not None
    (change,) = report.changed("platform")
    assert change.after["options"][TEMPLATES_OPTION][POOL_GROUP] == {"service_account": "other@example.invalid"}
    assert "project_id" not in change.after["options"]


def test_two_files_share_an_installation() -> None:
    imported()
    report = import_cluster(WHO, real("iris_gpu_cluster.yaml"))
    assert set(Platform.objects.values_list("name", flat=True)) == {"gcp", "coreweave"}
    assert len(report.left_alone) == 5


def test_a_platform_name_that_another_kind_has_is_refused() -> None:
    Platform.objects.create(name="gcp", kind="simulated")
    with pytest.raises(OperationRefused, match="platform gcp: expected kind gcp"):
        imported()
    assert not Group.objects.exists()


def test_a_file_without_a_name_is_told_of_plainly() -> None:
    import_cluster(WHO, replace(read_cluster(small()), name=""))
    assert set(Action.objects.values_list("reason", flat=True)) == {"cluster file"}
