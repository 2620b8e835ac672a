"""Tokens: made once, kept hashed, proved in constant time, ended by time or by hand."""

import re
from datetime import timedelta

import pytest

from scaling import operations, tokens
from scaling.clock import FrozenClock
from scaling.history import Actor
from scaling.models import Action, ApiToken, Event
from scaling.testing.builders import make_user
from tests.operations.support import last_action

pytestmark = pytest.mark.django_db


def test_a_token_is_shown_once_and_kept_hashed(actor: Actor) -> None:
    token, secret = operations.create_token(actor, "ci", "operator")
    assert re.fullmatch(r"iris_[0-9a-f]{12}_[A-Za-z0-9_-]{43}", secret)
    stored = ApiToken.objects.get(name="ci")
    assert (stored.role, stored.scope, stored.created_by) == ("operator", "", "ada")
    assert secret not in repr(ApiToken.objects.values().get())
    assert secret.split("_", 2)[2] not in repr(list(Action.objects.values())) + repr(list(Event.objects.values()))
    assert token.digest == tokens.digest_of(secret)
    assert (last_action().kind, last_action().target) == ("create_token", "token ci")


def test_the_right_secret_proves_the_token(actor: Actor, frozen_clock: FrozenClock) -> None:
    token, secret = operations.create_token(actor, "ci", "viewer")
    assert tokens.verify(secret, frozen_clock()) == token


@pytest.mark.parametrize("end", ["x", "", "é", "\x00", "A" * 500])
def test_a_changed_secret_proves_nothing(actor: Actor, frozen_clock: FrozenClock, end: str) -> None:
    _, secret = operations.create_token(actor, "ci", "viewer")
    assert tokens.verify(secret[:-1] + end, frozen_clock()) is None


@pytest.mark.parametrize("text", ["", "iris", "iris_", "iris__", "iris_0123456789ab_", "other_0123456789ab_secret"])
def test_what_is_no_token_proves_nothing(frozen_clock: FrozenClock, text: str) -> None:
    assert tokens.verify(text, frozen_clock()) is None


def test_a_token_ends_at_its_time(actor: Actor, frozen_clock: FrozenClock) -> None:
    _, secret = operations.create_token(actor, "ci", "viewer", expires_at=frozen_clock() + timedelta(hours=1))
    assert tokens.verify(secret, frozen_clock.advance(3599)) is not None
    assert tokens.verify(secret, frozen_clock.advance(1)) is None


def test_a_revoked_token_proves_nothing_and_keeps_its_row(actor: Actor, frozen_clock: FrozenClock) -> None:
    _, secret = operations.create_token(actor, "ci", "viewer")
    operations.revoke_token(actor, "ci", "leaked")
    assert tokens.verify(secret, frozen_clock()) is None
    assert ApiToken.objects.get(name="ci").revoked_at == frozen_clock()
    assert (last_action().kind, last_action().reason) == ("revoke_token", "leaked")
    with pytest.raises(operations.OperationRefused, match="ci was revoked at 2026-01-01"):
        operations.revoke_token(actor, "ci")


def test_the_last_use_is_written_at_most_once_a_minute(actor: Actor, frozen_clock: FrozenClock) -> None:
    _, secret = operations.create_token(actor, "ci", "viewer")
    first = frozen_clock()
    tokens.verify(secret, first)
    tokens.verify(secret, frozen_clock.advance(59))
    assert ApiToken.objects.get(name="ci").last_used_at == first
    later = frozen_clock.advance(1)
    tokens.verify(secret, later)
    assert ApiToken.objects.get(name="ci").last_used_at == later


@pytest.mark.parametrize(
    ("name", "role", "scope", "sentence"),
    [
        ("", "viewer", "", "name: expected some text, got none"),
        ("x" * 101, "viewer", "", "name: expected at most 100 characters, got 101"),
        ("x", "root", "", 'role: expected one of viewer, operator, admin, scheduler, worker, got "root"'),
        ("x", "scheduler", "", "scope: expected the demand source that this scheduler token is confined to, got none"),
        ("x", "worker", "", "scope: expected the worker that this worker token is confined to, got none"),
        ("x", "admin", "slurm", "scope: expected none for the role admin; only scheduler and worker have one"),
        ("ci", "viewer", "", 'name: there is a token named "ci" already'),
        ("ada", "viewer", "", 'name: there is a person named "ada" already'),
        ("Ada", "viewer", "", 'name: "Ada" looks like "ada", which is taken'),
        ("iris", "viewer", "", 'name: "iris" is what the history calls Iris itself'),
        ("Iris", "viewer", "", 'name: "Iris" looks like "iris", which is taken'),
        ("Ci", "viewer", "", 'name: "Ci" looks like "ci", which is taken: choose another name'),
        ("c\u0456", "viewer", "", 'expected letters of one alphabet, which nobody can take for others: "c" is Latin'),
        ("\u0441\u0456", "viewer", "", 'looks like "ci", which is taken'),
        ("ci\u202e", "viewer", "", "name: expected no invisible characters, got U+202E (right-to-left override)"),
    ],
)
def test_a_token_that_makes_no_sense_is_refused(actor: Actor, name: str, role: str, scope: str, sentence: str) -> None:
    make_user("ada")
    operations.create_token(actor, "ci", "viewer")
    with pytest.raises(operations.OperationRefused, match=re.escape(sentence)):
        operations.create_token(actor, name, role, scope)
    assert ApiToken.objects.count() == 1


def test_a_token_cannot_begin_expired(actor: Actor, frozen_clock: FrozenClock) -> None:
    with pytest.raises(operations.InvalidRequest, match="expires_at: expected a time in the future"):
        operations.create_token(actor, "ci", "viewer", expires_at=frozen_clock())
