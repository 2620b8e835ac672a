"""The state, the cloud and the tasks that a cluster scenario begins with."""

from collections.abc import Iterable

from scaling.autoscaler.models import BackoffMemory, ClusterState, GroupControl, MarkerKind, Slice, SliceState, Worker
from scaling.scenarios.cluster_cloud import Cloud, CloudSlice, started_with
from scaling.scenarios.cluster_scenario import ClusterScenario, StartSlice
from scaling.scenarios.cluster_tasks import Tasks


def start_state(scenario: ClusterScenario) -> ClusterState:
    return ClusterState(
        groups=scenario.groups,
        controls={
            marker.group: GroupControl(backoff=BackoffMemory(marker.failures, marker.failed_at))
            for marker in scenario.markers
            if marker.kind is MarkerKind.BACKOFF
        },
        pools=scenario.pools,
        slices={item.id: _slice(item, scenario) for item in scenario.slices},
        markers={(marker.group, marker.kind): marker for marker in scenario.markers},
    )


def _slice(item: StartSlice, scenario: ClusterScenario) -> Slice:
    serves = item.state in (SliceState.READY, SliceState.DRAINING)
    return Slice(
        name=item.id,
        group=item.group,
        state=item.state,
        created=item.created,
        sent_at=item.created,
        ready_since=item.created if serves else None,
        workers=tuple(_workers(item, scenario)) if serves else (),
        delete_asked_at=0.0 if item.state is SliceState.TERMINATING or item.is_leaving else None,
    )


def _workers(item: StartSlice, scenario: ClusterScenario) -> Iterable[Worker]:
    """The first workers hold the active tasks. An idle slice without `idle_since` has been idle since it was ready."""
    for index in range(scenario.groups[item.group].workers_per_slice):
        if index < item.active_tasks:
            yield Worker(index, active_tasks=1)
        else:
            idle = item.idle_since if item.idle_since is not None or item.active_tasks else item.created
            yield Worker(index, idle_since=idle)


def start_cloud(scenario: ClusterScenario) -> Cloud:
    slices = {item.id: _cloud_slice(item, scenario) for item in scenario.slices if item.state is not SliceState.FAILED}
    return started_with(slices, scenario.boot_seconds, scenario.fail_rules)


def _cloud_slice(item: StartSlice, scenario: ClusterScenario) -> CloudSlice:
    platform = scenario.groups[item.group].platform
    return CloudSlice(
        name=item.id,
        group=item.group,
        platform=platform,
        created=item.created,
        ready_at=item.created + scenario.boot_seconds if item.state.in_flight else item.created,
        unconfirmed=item.state is SliceState.REQUESTING,
        ending=item.state is SliceState.TERMINATING,
        leaving=item.is_leaving,
    )


def start_tasks(scenario: ClusterScenario) -> Tasks:
    tasks = Tasks(scenario.jobs, 0.0)
    for item in scenario.slices:
        group = scenario.groups[item.group]
        if item.state in (SliceState.READY, SliceState.DRAINING):
            for index in range(group.workers_per_slice):
                tasks.hold(item.id, index, group, held=index < item.active_tasks)
    return tasks
