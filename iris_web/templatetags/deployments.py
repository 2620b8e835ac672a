"""What the pages of deployments show again and again: a metric beside its target, a change in replicas."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from iris_web.pages import words
from iris_web.pages.deployment_rows import LastChange, Measure
from iris_web.pages.deployment_story import amount
from iris_web.templatetags.iris import icon

register = template.Library()

_MEASURE = (
    '<span class="measure tone-{}"><span class="measure-words"><b>{}</b>{}{}</span>'
    '<span class="meter" aria-hidden="true"><i class="w{}"></i></span></span>'
)
_NO_METER = '<span class="measure"><span class="measure-words"><b>{}</b>{}</span></span>'
_OVER = SafeString(
    f'<span class="measure-over" title="over target">{icon("gauge")}<span class="sr">over target</span></span>'
)


@register.simple_tag
def measure(shown: Measure, unit: str) -> SafeString:
    """`912 ms of 500` with a meter whose middle is the target; unknown is a dash, never zero."""
    value = "–" if shown.value is None else f"{amount(shown.value)}{_spaced(unit)}"
    target = format_html(' <span class="dim">of {}</span>', words.number(shown.target)) if shown.target else ""
    if shown.target is None or shown.ratio is None:
        return format_html(_NO_METER, value, target)
    over = _OVER if shown.over else ""
    return format_html(_MEASURE, shown.tone, value, target, over, shown.percent)


def _spaced(unit: str) -> str:
    return unit if unit.startswith("/") else f" {unit}"


@register.simple_tag
def change(last: LastChange) -> SafeString:
    """`+2`, `−1`, `+1 −1`, each said in words as well."""
    parts = [f"+{last.add}"] if last.add else []
    parts += [f"−{last.stop}"] if last.stop else []
    return format_html('<b>{}</b><span class="sr"> replicas</span>', " ".join(parts))
