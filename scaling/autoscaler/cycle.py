"""One refresh cycle of the group autoscaler, as a pure function of what is stored, what is seen, demand and time."""

from collections.abc import Iterable, Mapping

from scaling.autoscaler.models import ClusterState, CycleResult, DemandEntry, Listing


def run_cycle(
    state: ClusterState,
    observations: Mapping[str, Listing],
    demand: Iterable[DemandEntry],
    now: float,
    seed: str = "",
) -> CycleResult:
    """All seven steps but the sending: store `result.state` in one transaction, then send creates and deletes.

    `observations` holds a Listing for each platform in use (a missing one counts as not listed). `demand` holds one
    entry per job with the number of its tasks that wait. `seed` makes the names of new slices unique: give one that
    was never given before (a cycle's id); without it the time serves.
    """
