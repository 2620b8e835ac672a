"""Who is behind a session right now: asked when a socket opens, and again and again while it is open."""

from dataclasses import dataclass
from importlib import import_module

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.sessions.backends.base import SessionBase
from django.utils.crypto import constant_time_compare

from iris_web.access import Role, role_of
from iris_web.login.lifetime import is_over


@dataclass(frozen=True, slots=True)
class Access:
    """A person with a role, as their session says."""

    user: str
    role: Role


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
    return None if role is None else Access(user.get_username(), role)


def _matches(user: AbstractBaseUser, digest: str) -> bool:
    """Whether the session was made with the user's present password."""
    known = [user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()]
    return any(constant_time_compare(digest, one) for one in known)
