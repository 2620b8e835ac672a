"""Who is behind a session right now: asked when a socket opens, and again and again while it is open."""

from dataclasses import dataclass
from importlib import import_module

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.sessions.backends.base import SessionBase
from django.utils.crypto import constant_time_compare

from iris_web.access import Role, role_of
from iris_web.login.backends import PROXY_ISSUER
from iris_web.login.lifetime import is_over
from iris_web.models import Identity

PROXY_BACKEND = "iris_web.login.backends.ProxyBackend"


@dataclass(frozen=True, slots=True)
class Access:
    """A person with a role, as their session says. `by_proxy`: the trusted proxy's word made that session."""

    user: str
    role: Role
    by_proxy: bool = False


def access_of(session_key: str) -> Access | None:
    """The access that this session gives now; None when it ended, or the person's password, state or role took it.

    Only reads: unlike `django.contrib.auth.get_user` it never ends or renews the session.
    """
    if not session_key.isprintable():
        return None
    session: SessionBase = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    held = session.load()
    if SESSION_KEY not in held or held.get(BACKEND_SESSION_KEY) not in settings.AUTHENTICATION_BACKENDS:
        return None
    if is_over(held):
        return None
    model = get_user_model()
    user = model._default_manager.filter(pk=model._meta.pk.to_python(held[SESSION_KEY])).first()
    if user is None or not _matches(user, held.get(HASH_SESSION_KEY, "")):
        return None
    role = role_of(user)
    by_proxy = held[BACKEND_SESSION_KEY] == PROXY_BACKEND
    return None if role is None else Access(user.get_username(), role, by_proxy)


def access_at_the_door(session_key: str, named: str) -> Access | None:
    """The access of a socket that is being opened. `named`: whom the trusted proxy names in this very request.

    A session that the proxy made is worth nothing without it, as on every page. A socket that is open already has no
    further request: it stays for as long as `access_of` its session lasts.
    """
    access = access_of(session_key)
    if access is None or not access.by_proxy:
        return access
    is_same = named == access.user or _is_known_as(access.user, named)
    return access if named and is_same else None


def _is_known_as(user: str, named: str) -> bool:
    """Whether the proxy's name for this person is another than theirs here."""
    return Identity.objects.filter(user__username=user, issuer=PROXY_ISSUER, subject=named).exists()


def _matches(user: AbstractBaseUser, digest: str) -> bool:
    """Whether the session was made with the user's present password."""
    known = [user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()]
    return any(constant_time_compare(digest, one) for one in known)
