"""What was typed into a form about people or tokens, kept while the person shows again who they are.

In the session, by the names of the fields here and no other: what a form has besides, its password above all, is never
kept. It is given back once, to the page it was typed on.
"""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest

from scaling import clock

FIELDS = ("username", "email", "role", "is_active", "shown", "name", "scope", "expires_at")
_SESSION, _TAKEN = "iris_kept_form", "_iris_kept_form"
# As long as the way to a provider and back may take, and some time to type.
KEPT_SECONDS = 900
MOST_CHARACTERS = 2000


def keep(request: HttpRequest) -> bool:
    """Keep what was sent; whether there was a form, and not too much of it."""
    typed = {name: request.POST[name] for name in FIELDS if name in request.POST}
    if not typed or "action" in request.POST or sum(map(len, typed.values())) > MOST_CHARACTERS:
        return False
    # A box that is not ticked is not sent.
    typed.setdefault("is_active", "")
    request.session[_SESSION] = {"path": request.path, "at": clock.now().timestamp(), "typed": typed,
                                 "password": bool(request.POST.get("password"))}  # fmt: skip
    return True


def take(request: HttpRequest) -> dict[str, Any]:
    """What was typed on this page, told to the person who gets it back; empty where nothing is kept for it."""
    if not hasattr(request, _TAKEN):
        setattr(request, _TAKEN, _take(request) if request.method == "GET" else {})
    found: dict[str, Any] = getattr(request, _TAKEN)
    return found


def _take(request: HttpRequest) -> dict[str, Any]:
    if request.session.get(_SESSION, {}).get("path") != request.path:
        return {}
    kept = request.session.pop(_SESSION)
    if clock.now().timestamp() - kept["at"] > KEPT_SECONDS:
        return {}
    again = " The password was not kept: type it again." if kept["password"] else ""
    messages.warning(request, f"This is what you typed before. It is not saved yet.{again}")
    return {**kept["typed"], "is_active": bool(kept["typed"]["is_active"])}
