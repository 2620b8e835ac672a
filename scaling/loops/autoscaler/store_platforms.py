"""Stores how listing went: platforms, orphans, learned limits, the bucket of creates."""

from collections import defaultdict

from scaling.autoscaler.models import ClusterState
from scaling.loops.autoscaler.snapshot import Snapshot
from scaling.models import Installation, Orphan, Platform, QuotaPool
from scaling.moments import moment


def store_platforms(after: ClusterState, before: Snapshot, at: float) -> None:
    """`at`: when the cycle looked, in Unix seconds."""
    _platforms(after, before)
    _listed(after, before, at)
    _pools(after, before)
    _orphans(after, before)
    if after.create_bucket is not None and after.create_bucket != before.state.create_bucket:
        Installation.objects.filter(pk=before.installation.pk).update(
            create_tokens=after.create_bucket.tokens, create_tokens_at=moment(after.create_bucket.at)
        )


def _platforms(after: ClusterState, before: Snapshot) -> None:
    for name, status in after.platforms.items():
        if name in before.platforms and status != before.state.platforms.get(name):
            Platform.objects.filter(name=name).update(
                aborts_in_a_row=status.aborts,
                unreachable_since=moment(status.failing_since),
                last_error=status.error,
            )


def _listed(after: ClusterState, before: Snapshot, at: float) -> None:
    """When each platform in use was last listed whole."""
    asked = {row.platform_id for row in before.groups.values()}
    answered = [row.pk for name, row in before.platforms.items() if row.pk in asked and _answers(after, name)]
    Platform.objects.filter(pk__in=answered).update(listed_at=moment(at))


def _answers(after: ClusterState, name: str) -> bool:
    status = after.platforms.get(name)
    return status is not None and status.failing_since is None


def _pools(after: ClusterState, before: Snapshot) -> None:
    for name, pool in after.pools.items():
        if pool != before.state.pools.get(name):
            QuotaPool.objects.filter(name=name).update(
                learned_limit=pool.learned_limit, learned_at=moment(pool.learned_at)
            )


def _orphans(after: ClusterState, before: Snapshot) -> None:
    """Known by platform and name: two platforms may each have one of the same name."""
    known = {(orphan.platform, name): orphan for name, orphan in before.state.orphans.items()}
    there = {(orphan.platform, name): orphan for name, orphan in after.orphans.items()}
    by_platform: defaultdict[str, list[str]] = defaultdict(list)
    for platform, name in known.keys() - there.keys():
        by_platform[platform].append(name)
    for platform, names in by_platform.items():
        Orphan.objects.filter(platform__name=platform, name__in=names).delete()
    Orphan.objects.bulk_create(
        [
            Orphan(name=name, platform=before.platforms[platform], first_seen_at=moment(orphan.first_seen))
            for (platform, name), orphan in there.items()
            if (platform, name) not in known
        ],
        ignore_conflicts=True,
    )
