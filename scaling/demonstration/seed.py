"""Makes the demonstration cluster; doing it again changes nothing, also not what people have edited since."""

import logging
import uuid
from datetime import datetime

from django.db import transaction

from scaling import feed
from scaling.demonstration.cluster import OFFERS, POOLS, granted_quotas, group_fields
from scaling.models import Group, Installation, Platform, QuotaPool
from scaling.platforms.registry import SIMULATION_OPTION, cloud_books, cloud_script
from scaling.platforms.simulated import RuleKind

logger = logging.getLogger(__name__)

PLATFORM = "simulated"

# A cloud with moods: now and then a slow or lost answer, a host that does not start, a preemption, a silent worker.
MOODS: dict[str, float] = {
    "seed": 20,
    "boot_seconds": 15,
    "boot_spread_seconds": 30,
    "delete_seconds": 8,
    "answer_seconds": 0.15,
    "slow_chance": 0.03,
    "slow_seconds": 2.5,
    "outage_chance": 0.004,
    "boot_failure_chance": 0.02,
    "preemptions_per_hour": 1.0,
    "silences_per_hour": 0.5,
    "silence_seconds": 20,
}


def seed(now: datetime) -> None:
    """Make platform, pools and groups where they are missing, and mark the installation as a demonstration."""
    with transaction.atomic():
        platform, made = Platform.objects.get_or_create(
            name=PLATFORM,
            defaults={
                "kind": "simulated",
                "mode": Platform.Mode.ACT,
                "label_prefix": "demo",
                "options": {SIMULATION_OPTION: MOODS},
            },
        )
        pools = {pool.name: _pool(pool.name, pool.limit, pool.metric) for pool in POOLS}
        before = set(Group.objects.values_list("name", flat=True))
        new = [
            Group(name=offer.name, platform=platform, quota_pool=pools.get(offer.pool), **group_fields(offer))
            for offer in OFFERS
            if offer.name not in before
        ]
        Group.objects.bulk_create(new)
        _mark_installation()
        if new:
            feed.publish("groups", "seeded", {"groups": len(new)}, at=now)
    _script_quotas(platform)
    if made:
        logger.info("demonstration cluster made", extra={"groups": len(new), "platform": platform.name})


def _pool(name: str, limit: int, metric: str) -> QuotaPool:
    return QuotaPool.objects.get_or_create(name=name, defaults={"limit": limit, "quota_metric": metric})[0]


def _mark_installation() -> None:
    installation = Installation.objects.first() or Installation(identity=str(uuid.uuid4()))
    installation.demonstration = True
    installation.save()


def _script_quotas(platform: Platform) -> None:
    """What the cloud grants is in the cloud's books, made once."""
    scripted = {rule.pool for rule in cloud_books(platform).rules() if rule.kind is RuleKind.QUOTA}
    for pool, amount, metric in granted_quotas():
        if pool not in scripted:
            cloud_script(platform).set_quota(amount, pool=pool, metric=metric)
