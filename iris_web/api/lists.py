"""The lists of the API: what each selects by and who sees which part."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from django.db.models import Q

from iris_web.api import resources
from iris_web.api.action_lists import ActionListing
from iris_web.api.callers import Caller
from iris_web.api.listings import Filter, Listing
from iris_web.api.resources import ACTION, GROUP, HINT, JOB, MARKER, PLATFORM, POOL, SLICE, TOKEN
from scaling import models
from scaling.autoscaler.words import DeviceType, HintCode, Outcome, Tier
from scaling.operations.inputs import Choice, Flag, Text

NAME = Text(200)
_LIVE = Q(state__in=models.Slice.LIVE)


def _word_of(words: type[StrEnum]) -> Choice:
    """One word of these: another would select nothing, which reads as if there were nothing of the kind."""
    return Choice(tuple(word.value for word in words))


def _own_jobs(column: str) -> Callable[[Caller], Q]:
    """A scheduler token sees the jobs of its own source only."""
    return lambda caller: Q() if caller.source is None else Q(**{column: caller.source})


def _is_set(column: str) -> Callable[[Any], Q]:
    return lambda wanted: Q(**{f"{column}__isnull": not wanted})


GROUPS = Listing(
    models.Group,
    GROUP,
    (
        Filter("outcome", _word_of(Outcome), "status__outcome", "Outcome of the last cycle."),
        Filter("device_type", _word_of(DeviceType), "device_type"),
        Filter("device_variant", NAME, "device_variant"),
        Filter("zone", NAME, "zone"),
        Filter("platform", NAME, "platform__name"),
        Filter("quota_pool", NAME, "quota_pool__name"),
        Filter("draining", Flag(), _is_set("drain_since")),
    ),
)
SLICES = Listing(
    models.Slice,
    SLICE,
    (
        Filter("state", Choice(tuple(models.Slice.State.values)), "state"),
        Filter("live", Flag(), lambda wanted: _LIVE if wanted else ~_LIVE, "true: only those not gone or failed."),
        Filter("group", NAME, "group__name"),
        Filter("platform", NAME, "platform__name"),
    ),
)
WORKERS = Listing(
    models.Worker,
    resources.WORKER,
    (
        Filter("slice", NAME, "slice__name"),
        Filter("group", NAME, "slice__group__name"),
        Filter("state", Choice(tuple(models.Worker.State.values)), "state"),
    ),
)
MARKERS = Listing(
    models.Marker,
    MARKER,
    (
        Filter("open", Flag(), lambda wanted: Q(closed_at__isnull=wanted), "true: only open ones; false: the history."),
        Filter("kind", Choice(tuple(models.Marker.Kind.values)), "kind"),
        Filter("group", NAME, "group__name"),
        Filter("acknowledged", Flag(), _is_set("acknowledged_at")),
    ),
    key="id",
    newest_first=True,
)
ACTIONS = ActionListing(models.Action, ACTION)
HINTS = Listing(
    models.Hint,
    HINT,
    (Filter("code", _word_of(HintCode), "code"), Filter("source", Text(100), "job__source")),
    key="pk",
    own=_own_jobs("job__source"),
)
JOBS = Listing(
    models.Job,
    JOB,
    (
        Filter("source", Text(100), "source"),
        Filter("state", Choice(tuple(models.Job.State.values)), "state"),
        Filter("tier", _word_of(Tier), "tier"),
        Filter("hint", _word_of(HintCode), "hint__code", "Only jobs with a hint of this code."),
    ),
    key="id",
    own=_own_jobs("source"),
)
PLATFORMS = Listing(models.Platform, PLATFORM)
POOLS = Listing(models.QuotaPool, POOL)
TOKENS = Listing(models.ApiToken, TOKEN, (Filter("role", Choice(tuple(models.ApiToken.Role.values)), "role"),))
