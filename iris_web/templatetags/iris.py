"""What templates need beyond Django's own: states with shape and word, amounts, addresses. Times are in `live`."""

from functools import lru_cache

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from iris_web.pages import addresses, effect_words, links, prices, states, words
from iris_web.pages.hint_words import Completed
from scaling.models import Hint

_ICON = '<svg class="i {}" width="14" height="14" aria-hidden="true"><use href="#i-{}"/></svg>'
_STATE = '<span class="state tone-{}" title="{}">{}<span>{}</span></span>'

register = template.Library()
register.filter("linked", links.linked)
register.filter("folded", effect_words.folded)
register.filter("reason_words", effect_words.reason_words)
register.filter("size", words.size)
register.filter("number", words.number)
register.filter("price", prices.price)
register.filter("phrase", words.phrase)
register.filter("devices", words.devices)
register.filter("device_word", words.device_word)
register.filter("plural", words.plural)
register.filter("group_url", addresses.group)
register.filter("slice_url", addresses.slice_)
register.filter("job_url", addresses.job)
register.filter("action_url", addresses.action)
register.filter("deployment_url", addresses.deployment)


# A page shows the same few icons and states hundreds of times: each is put together once per process.
_CACHED = 4096


@register.simple_tag
@lru_cache(_CACHED)
def icon(shape: str, css: str = "") -> SafeString:
    """A symbol of the sprite, silent to screen readers: the word beside it speaks."""
    return format_html(_ICON, css, shape)


@register.simple_tag
@lru_cache(_CACHED)
def state(kind: str, code: str) -> SafeString:
    """A state as shape + word in its tone, its meaning on hover."""
    seen = states.look(kind, code)
    return format_html(_STATE, seen.tone, seen.meaning, icon(seen.shape), seen.word)


@register.simple_tag
def marker_state(kind: str, over: bool) -> SafeString:
    """The state of a marker; one that has run out is calm and says so."""
    return state("marker", f"{kind}_over" if over else kind)


@register.simple_tag
def state_word(kind: str, code: str) -> str:
    return states.look(kind, code).word


@register.simple_tag
def tone(kind: str, code: str) -> str:
    return states.look(kind, code).tone


@register.simple_tag
@lru_cache(_CACHED)
def mark(kind: str, code: str) -> SafeString:
    """The shape of a state without its word, for places where the word stands beside or in the label."""
    seen = states.look(kind, code)
    return icon(seen.shape, f"tone-{seen.tone}")


@register.filter
def hint_text(hint: Hint, completed: Completed) -> str:
    """A hint's words without the code they begin with, completed by what the page knows of the groups in them."""
    return completed.text(hint)
