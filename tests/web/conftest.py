"""One of everything with names that must not leak, and everyone who may come to the door."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from scaling import clock, operations
from scaling.history import Actor
from scaling.models import ApiToken, Notice, NoticeChannel, QuotaPool
from scaling.testing import builders, sample_deployments
from tests.web.expectations import Person, Token

# In the name of everything stored: an answer that holds it has told of what is stored.
HUSH = "hush"
SCOPES = {Token.SCHEDULER: "slurm", Token.WORKER: f"slice-{HUSH}-0"}


@dataclass(frozen=True, slots=True)
class Rows:
    """The names and keys that addresses are made of. `missing` has the same kinds, of nothing that exists."""

    existing: dict[str, object]
    missing: dict[str, object]


@pytest.fixture
def rows(people: dict[str, User]) -> Rows:
    now = clock.now()
    builders.make_installation()
    group = builders.make_group(f"group-{HUSH}")
    builders.make_status(group, now)
    builders.make_slice(group, now, name=f"slice-{HUSH}")
    job = builders.make_job(now, f"job-{HUSH}", source="slurm")
    deployment = sample_deployments.make_deployment(f"deployment-{HUSH}", now)
    pool = QuotaPool.objects.create(name=f"pool-{HUSH}", limit=8, learned_limit=4, learned_at=now)
    token, _ = operations.create_token(Actor.user("root"), f"token-{HUSH}", "viewer")
    existing: dict[str, object] = {
        "group": group.name,
        "group_pk": group.pk,
        "slice": f"slice-{HUSH}",
        "worker": f"slice-{HUSH}-0",
        "job": f"slurm:{job.job_id}",
        "deployment": f"deployment-{HUSH}",
        "deployment_pk": deployment.pk,
        "marker": builders.make_marker(group, now, message=f"no capacity for {HUSH}").pk,
        "action": builders.make_action("scale_up", now, group=group.name).pk,
        "platform": group.platform.pk,
        "pool": pool.pk,
        "pool_name": pool.name,
        "token": token.pk,
        "token_name": token.name,
        "user": people["viewer"].pk,
        "source": "slurm",
        "channel": NoticeChannel.objects.create(name=f"channel-{HUSH}", url="json://127.0.0.1:9/x").pk,
        "notice": Notice.objects.create(
            kind="stockout", object=group.name, title=f"Stock-out: {group.name}", since=now, opened_at=now
        ).pk,
    }
    nothing = {name: 987_654 if isinstance(value, int) else "nothing" for name, value in existing.items()}
    return Rows(existing, {**nothing, "job": "slurm:nothing"})


@pytest.fixture
def come(people: dict[str, User]) -> Callable[..., Client]:
    """`come(Person.VIEWER)` is that person's browser; options as of Django's test client."""

    def browser(person: Person, **options: bool) -> Client:
        client = Client(raise_request_exception=False, REMOTE_ADDR="203.0.113.9", **options)
        if person is not Person.ANONYMOUS:
            client.force_login(people[person.value])
        return client

    return browser


@pytest.fixture
def secret_of(db: None) -> Callable[[Token], str]:
    """The secret of a new token of that kind."""

    def make(kind: Token) -> str:
        if kind is Token.GARBAGE:
            return "iris_0123456789ab_garbage"
        role = kind.value if kind.value in ApiToken.Role.values else "admin"
        token, secret = operations.create_token(Actor.user("root"), f"{kind}-of-the-matrix", role, SCOPES.get(kind, ""))
        ended = clock.now() - timedelta(seconds=1)
        if kind is Token.EXPIRED:
            ApiToken.objects.filter(pk=token.pk).update(expires_at=ended)
        if kind is Token.REVOKED:
            ApiToken.objects.filter(pk=token.pk).update(revoked_at=ended)
        return secret

    return make
