"""Template tags of live pages: the socket, the fragments, and times that tick.

{% load live %}
{% live_socket %}                                            once per page, at the end of the body
{% live_fragment "group.waterfall" name=group.name %}        a fragment with its content
<section {% live "group.waterfall" name=group.name %}>       its attributes alone, around own content
{% age marker.opened_at %} {% countdown marker.expires_at %} {% local_time action.at %}
"""

import json
from datetime import datetime
from typing import Any, cast

from django import template
from django.conf import settings
from django.template import Context
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from iris_web.access import Role
from iris_web.live import fragments, times
from scaling import clock, feed

register = template.Library()

# What hx-ws does for us: reconnect with growing, jittered pauses. Resting in a hidden tab is up to live.js.
_SOCKET = {
    "ws": {
        "pauseOnBackground": False,
        "reconnectDelay": 500,
        "reconnectMaxDelay": 5000,
        "reconnectJitter": 0.3,
    }
}


@register.simple_tag(takes_context=True)
def live_socket(context: Context) -> SafeString:
    """The page's one connection and the bar that says when it is lost. Nothing of it shows without javascript."""
    request = context["request"]
    cursor = getattr(request, "live_cursor", None) or str(feed.head())
    return format_html(
        '<div id="live" hidden hx-ws:connect="/ws/live" hx-trigger="liveconnect" hx-swap="none" hx-config="{}" '
        'data-live-cursor="{}" data-live-csrf="{}" data-live-login="{}" data-live-now="{}"></div>'
        '<div id="live-bar" class="live-bar" role="status"></div>',
        json.dumps(_SOCKET),
        cursor,
        context["csrf_token"],
        settings.LOGIN_URL,
        clock.now().isoformat(),
    )


@register.simple_tag(takes_context=True)
def live(context: Context, name: str, /, **params: Any) -> SafeString:
    """The attributes of a fragment's element."""
    return _attributes(*fragments.lookup(name, _texts(params), _role(context)))


@register.simple_tag(takes_context=True)
def live_fragment(context: Context, name: str, /, tag: str = "div", class_: str = "", **params: Any) -> SafeString:
    """A fragment's element with its content, as `context` and `template` of the fragment make it."""
    role = _role(context)
    fragment, key = fragments.lookup(name, _texts(params), role)
    # The page's own, made at its first use: a new one for each part would take longer than many parts.
    content = fragment.render(dict(key.params), role, cast(str, context.get("csrf_token", "")))
    return format_html(
        '<{0} {1} class="{2}">{3}</{0}>', SafeString(tag), _attributes(fragment, key), f"live {class_}".strip(), content
    )


@register.simple_tag
def age(at: datetime | None) -> SafeString:
    """How long ago: `4 min 10 s`, ticking."""
    return times.age_element(at, clock.now())


@register.simple_tag
def countdown(at: datetime | None) -> SafeString:
    """How long until: `4 min 10 s`, ticking down."""
    return times.countdown_element(at, clock.now())


@register.simple_tag
def local_time(at: datetime | None) -> SafeString:
    """The moment in the reader's zone, with UTC on hover."""
    return times.local_element(at)


@register.filter
def duration(seconds: float) -> str:
    """Seconds in words: `4 min 10 s`."""
    return times.duration_text(seconds)


def _attributes(fragment: fragments.Fragment, key: fragments.Key) -> SafeString:
    pairs = [("id", key.element_id), ("data-live", fragment.name)]
    if key.params:
        pairs.append(("data-live-params", json.dumps(dict(key.params))))
    return format_html_join(" ", '{}="{}"', pairs)


def _texts(params: dict[str, Any]) -> dict[str, str]:
    return {name: "" if value is None else str(value) for name, value in params.items()}


def _role(context: Context) -> Role:
    role = context.get("role")
    if role is None:
        raise fragments.BadFragment("live fragments need `role` in the template's context")
    return Role(role)
