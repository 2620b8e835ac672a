"""The OIDC provider: discovery, the authorization code flow with PKCE, state and nonce, and what its answer proves."""

from dataclasses import dataclass
from typing import Any

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.django_client import OAuth
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from joserfc.errors import JoseError

from iris_web.login.arrivals import Arrival
from iris_web.login.configured import Oidc
from iris_web.login.discovery import Discovery, NotDiscovered

TIMEOUT_SECONDS = 10
# Signatures by the provider's own key alone: never none, never a shared secret.
ALGORITHMS = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"})


class ProviderFailed(Exception):
    """Raised where the provider cannot be asked or its answer proves nothing; the text is for the person."""


@dataclass(frozen=True, slots=True)
class Proved:
    """Who signed in there, and when they last showed who they are; None where it does not say."""

    arrival: Arrival
    authenticated_at: int | None


def begin(request: HttpRequest, callback: str, *, again: bool) -> HttpResponse:
    """To the provider; with `again` it must ask the person anew. State, nonce and verifier wait in the session."""
    more: dict[str, Any] = {"prompt": "login", "max_age": 0} if again else {}
    try:
        answer: HttpResponse = _client_of(settings.IRIS_OIDC).authorize_redirect(request, callback, **more)
    except (NotDiscovered, requests.RequestException, OAuthError, RuntimeError, ValueError) as failed:
        raise ProviderFailed("The sign-in service does not answer. Try again in a moment.") from failed
    return answer


def finish(request: HttpRequest) -> Proved:
    """What the provider's answer proves, after every check of it; raises ProviderFailed."""
    oidc: Oidc = settings.IRIS_OIDC
    expected = {
        "iss": {"essential": True, "value": oidc.issuer},
        "aud": {"essential": True, "value": oidc.client_id},
        "sub": {"essential": True},
        "exp": {"essential": True},
    }
    try:
        token = _client_of(oidc).authorize_access_token(request, claims_options=expected)
    except (NotDiscovered, requests.RequestException) as failed:
        raise ProviderFailed("The sign-in service does not answer. Try again in a moment.") from failed
    except (OAuthError, JoseError, RuntimeError, ValueError, KeyError, TypeError) as failed:
        raise ProviderFailed("The sign-in service did not prove who you are. Sign in again.") from failed
    claims = token.get("userinfo")
    if not claims:
        raise ProviderFailed("The sign-in service did not say who you are. Sign in again.")
    return _proved(claims, oidc)


def _proved(claims: Any, oidc: Oidc) -> Proved:
    name = str(claims.get(oidc.name_claim) or "")
    if not name:
        raise ProviderFailed(f"The sign-in service told no name for you (claim {oidc.name_claim}).")
    arrival = Arrival(
        issuer=oidc.issuer[:200],
        subject=str(claims["sub"])[:255],
        name=name,
        email=str(claims.get("email") or "")[:254],
        words=_words(claims.get(oidc.role_claim)),
    )
    at = claims.get("auth_time")
    return Proved(arrival, int(at) if isinstance(at, int | float) else None)


def _words(value: Any) -> list[str]:
    if isinstance(value, str):
        return value.replace(",", " ").split()
    return [str(word) for word in value] if isinstance(value, list) else []


def _client_of(oidc: Oidc) -> Any:
    return discovery.client(oidc.issuer, oidc.client_id, oidc.client_secret, oidc.scopes)


def _client(issuer: str, client_id: str, client_secret: str, scopes: str) -> Any:
    """The client of a provider with what that says of itself; raises where that cannot be read or is another's."""
    oauth: Any = OAuth
    client = oauth().register(
        name="provider",
        client_id=client_id,
        client_secret=client_secret or None,
        server_metadata_url=issuer.rstrip("/") + "/.well-known/openid-configuration",
        client_kwargs={
            "scope": scopes,
            "code_challenge_method": "S256",
            "default_timeout": TIMEOUT_SECONDS,
            "token_endpoint_auth_method": "client_secret_basic" if client_secret else "none",
        },
    )
    metadata = client.load_server_metadata()
    if metadata.get("issuer") != issuer:
        raise ValueError(f"the provider calls itself {metadata.get('issuer')!r}; expected {issuer!r}")
    told = metadata.get("id_token_signing_alg_values_supported") or ["RS256"]
    metadata["id_token_signing_alg_values_supported"] = sorted(ALGORITHMS & set(told))
    return client


discovery = Discovery(_client)
