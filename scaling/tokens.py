"""API tokens: how one is made, and how one that a client shows is proved."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q

from scaling.models import ApiToken

SCHEME = "iris"
LAST_USED_EVERY = timedelta(minutes=1)
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Secret:
    """A new token's text, shown once; only `prefix` and `digest` are kept."""

    text: str
    prefix: str
    digest: str


def make() -> Secret:
    """A random token `iris_<prefix>_<secret>` with 256 bits of secret."""
    prefix = secrets.token_hex(6)
    text = f"{SCHEME}_{prefix}_{secrets.token_urlsafe(32)}"
    return Secret(text, prefix, digest_of(text))


def digest_of(text: str) -> str:
    """SHA-256: the secret is random, so a slow hash would add nothing."""
    return hashlib.sha256(text.encode()).hexdigest()


def verify(text: str, now: datetime) -> ApiToken | None:
    """The token that `text` proves, if it is known, not revoked and not expired at `now`."""
    parts = text.split("_", 2)
    if len(parts) != 3 or parts[0] != SCHEME or len(text) > _LONGEST or not text.isascii():
        return None
    token = ApiToken.objects.filter(prefix=parts[1]).first()
    # An unknown prefix is compared too: the time an answer takes tells nothing.
    proved = hmac.compare_digest(token.digest if token else "", digest_of(text))
    if token is None or not proved or not is_valid(token, now):
        return None
    _note_use(token, now)
    return token


def is_valid(token: ApiToken, now: datetime) -> bool:
    """Neither revoked nor expired; at exactly `expires_at` it is expired."""
    return token.revoked_at is None and (token.expires_at is None or now < token.expires_at)


def _note_use(token: ApiToken, now: datetime) -> None:
    """Written at most once a minute: a busy client must not turn each read into a write."""
    due = now - LAST_USED_EVERY
    if token.last_used_at is None or token.last_used_at <= due:
        unused = Q(last_used_at=None) | Q(last_used_at__lte=due)
        ApiToken.objects.filter(unused, pk=token.pk).update(last_used_at=now)
