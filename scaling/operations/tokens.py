"""Acts on API tokens: make one, revoke one. A secret is returned once and never stored or recorded."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from scaling import clock, tokens
from scaling.history import Actor, record
from scaling.models import ApiToken
from scaling.operations.acts import ActKind, read_act, when
from scaling.operations.changes import as_json, find
from scaling.operations.errors import InvalidRequest, OperationRefused
from scaling.operations.fields import Field, FieldTable
from scaling.operations.inputs import Choice, Moment, Text
from scaling.operations.names import check_free, lock_names

# What a scoped role is confined to.
SCOPES = {ApiToken.Role.SCHEDULER.value: "demand source", ApiToken.Role.WORKER.value: "worker"}

TOKEN_FIELDS = FieldTable(
    [
        Field("name", Text(100, required=True), "Who uses it; shown as the actor of its acts.", required=True),
        Field("role", Choice(tuple(ApiToken.Role.values)), "What it may do.", required=True),
        Field("scope", Text(200), "The demand source of a scheduler token, the worker of a worker token."),
        Field("expires_at", Moment(ahead=True, within=timedelta(days=3660)), "When it ends; null = never."),
    ]
)


@transaction.atomic
def create_token(
    actor: Actor, name: str, role: str, scope: str = "", expires_at: datetime | None = None
) -> tuple[ApiToken, str]:
    """(the stored token, its secret text). The secret can't be shown again."""
    given = TOKEN_FIELDS.read({"name": name, "role": role, "scope": scope, "expires_at": expires_at})
    _check_scope(given["role"], given["scope"])
    lock_names()
    _check_name(given["name"])
    secret = tokens.make()
    token = ApiToken.objects.create(**given, prefix=secret.prefix, digest=secret.digest, created_by=actor.name)
    after = {"role": token.role, "scope": token.scope, "expires_at": as_json(token.expires_at)}
    record(ActKind.CREATE_TOKEN, actor=actor, target=f"token {token.name}", after=after)
    return token, secret.text


def _check_name(name: str) -> None:
    """Free, and like nobody else's: it is the actor of what is done with it."""
    people = list(User.objects.values_list("username", flat=True))
    if name in people:
        raise OperationRefused(f'there is a person named "{name}" already', "name")
    try:
        check_free(name, people, ApiToken.objects.values_list("name", flat=True))
    except ValueError as misleading:
        raise OperationRefused(str(misleading), "name") from None


def _check_scope(role: str, scope: str) -> None:
    confined_to = SCOPES.get(role)
    if confined_to and not scope:
        raise InvalidRequest(f"expected the {confined_to} that this {role} token is confined to, got none", "scope")
    if scope and not confined_to:
        raise InvalidRequest(f"expected none for the role {role}; only {' and '.join(SCOPES)} have one", "scope")


@transaction.atomic
def revoke_token(actor: Actor, name: str, reason: str = "") -> ApiToken:
    """The token is refused from now on; its row stays, for the history names it."""
    reason = read_act(reason=reason)["reason"]
    token = find(ApiToken, "name", name)
    if token.revoked_at is not None:
        raise OperationRefused(f"token {name} was revoked at {when(token.revoked_at)}", "name")
    token.revoked_at = clock.now()
    token.save(update_fields=["revoked_at"])
    after = {"revoked_at": token.revoked_at.isoformat()}
    record(ActKind.REVOKE_TOKEN, actor=actor, target=f"token {token.name}", reason=reason, after=after)
    return token
