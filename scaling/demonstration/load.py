"""The demonstration loop: jobs arrive, hopeless ones are withdrawn, a zone runs out of stock now and then.

A withdrawn job is one that is no longer listed after it has waited in vain for `PATIENCE`, as people do.
"""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max

from scaling.demonstration.seed import PLATFORM
from scaling.demonstration.weather import StockOut, stock_out_at
from scaling.demonstration.work import arrivals
from scaling.history import Actor
from scaling.models import ActorKind, Installation, Job, Platform, Source
from scaling.operations import put_demand
from scaling.platforms.registry import cloud_books, cloud_script
from scaling.platforms.simulated import CloudRule, RuleKind

logger = logging.getLogger(__name__)

SOURCE = "demonstration"
ACTOR = Actor(ActorKind.SYSTEM, SOURCE, Source.API)

UNFINISHED = (Job.State.PENDING, Job.State.RUNNING)

# How often the list is told at most, and how far back it reaches after a pause.
LIST_EVERY_SECONDS = 8
CATCH_UP_SECONDS = 30
# More waiting jobs than this and nobody submits: a queue that only grows explains nothing.
MOST_WAITING = 40
PATIENCE = timedelta(minutes=4)
KEEP_FINISHED = timedelta(minutes=30)
KEEP_BOOKS_SECONDS = 6 * 3600.0
# Chores are done in seconds divisible by this.
CHORES_EVERY_SECONDS = 20


def run(now: datetime) -> None:
    """One second of the demonstration; running a second twice or missing some does no harm."""
    began = Installation.objects.values_list("created_at", flat=True).first()
    platform = Platform.objects.filter(name=PLATFORM).first()
    if began is None or platform is None:
        return
    second = int(now.timestamp())
    _change_weather(platform, began.timestamp(), now.timestamp())
    _list_jobs(began.timestamp(), second, now)
    if second % CHORES_EVERY_SECONDS == 0:
        _prune(platform, now)


def _list_jobs(began: float, second: int, now: datetime) -> None:
    """Tell what is pending, as a scheduler does: all of it, when something came and not more often than needed."""
    latest = Job.objects.filter(source=SOURCE).aggregate(at=Max("submitted_at"))["at"]
    told_until = max(int(latest.timestamp()) if latest else 0, second - CATCH_UP_SECONDS)
    if latest and second - latest.timestamp() < LIST_EVERY_SECONDS:
        return
    unfinished = Job.objects.filter(source=SOURCE, state__in=UNFINISHED)
    waiting = unfinished.filter(running_tasks=0)
    hopeless = waiting.filter(submitted_at__lt=now - PATIENCE)
    seconds = range(told_until + 1, second + 1) if waiting.count() < MOST_WAITING else ()
    new = [job for moment in seconds for job in arrivals(began, moment)]
    if new or hopeless.exists():
        still_wanted = unfinished.exclude(pk__in=hopeless.values("pk"))
        put_demand(ACTOR, SOURCE, [*map(_as_listed, still_wanted), *new])


def _as_listed(job: Job) -> dict[str, Any]:
    told = {"id": job.job_id, "priority": job.priority, "run_seconds": job.run_seconds, "submitted": job.submitted_at}
    return {**job.spec, **told}


def _prune(platform: Platform, now: datetime) -> None:
    """Finished jobs and old books leave, so that hours of it stay as light as the first minutes."""
    Job.objects.filter(source=SOURCE, finished_at__lt=now - KEEP_FINISHED).delete()
    cloud_books(platform).forget_before(now.timestamp() - KEEP_BOOKS_SECONDS)


def _change_weather(platform: Platform, began: float, now: float) -> None:
    found = stock_out_at(began, now)
    if found is None or _is_scripted(platform, found):
        return
    rule = CloudRule(RuleKind.STOCKOUT, zone=found.zone, starts_at=found.starts_at, ends_at=found.ends_at)
    cloud_script(platform).add(rule)
    logger.info("demonstration zone out of stock", extra={"zone": found.zone})


def _is_scripted(platform: Platform, found: StockOut) -> bool:
    rules = cloud_books(platform).rules()
    return any(rule.kind is RuleKind.STOCKOUT and rule.starts_at == found.starts_at for rule in rules)
