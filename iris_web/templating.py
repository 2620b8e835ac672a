"""The template engine of all pages: what nobody sees in a text, and changes what is read, is a mark that all see.

New texts are refused with such characters (`scaling.characters`); those stored before that, or sent by others, are
shown with a mark in their place, in pages, fragments and the admin alike. Not so in the fields of a form, which are
sent back as they came: a mark there would be stored by whoever changes something else. Exports and the API make no use
of templates: they tell a record exactly as it is kept.
"""

import re
from typing import Any

from django.template.backends.django import DjangoTemplates
from django.utils.safestring import SafeString, mark_safe

from scaling.characters import harmless, has_hidden

# What a form sends back. Whatever comes from a record is escaped, so it can neither end nor look like one of these.
_FIELD = re.compile(r"""(\svalue=(?:"[^"]*"|'[^']*')|<textarea\b[^>]*>[^<]*</textarea>)""")


class _Seen:
    """A template whose outcome has nothing hidden in it; in all else it is the one that it wraps."""

    def __init__(self, template: Any) -> None:
        self._template = template

    def __getattr__(self, name: str) -> Any:
        return getattr(self._template, name)

    def render(self, context: Any = None, request: Any = None) -> SafeString:
        return mark_safe(_seen(self._template.render(context, request)))  # noqa: S308 - it was escaped in there


def _seen(page: str) -> str:
    if not has_hidden(page):
        return page
    # Split at a group: what it found stands at every other place.
    parts = _FIELD.split(page)
    return "".join(part if place % 2 else harmless(part) for place, part in enumerate(parts))


class Templates(DjangoTemplates):
    """Django's own templates, each as `_Seen`."""

    def from_string(self, template_code: str) -> Any:
        return _Seen(super().from_string(template_code))

    def get_template(self, template_name: str) -> Any:
        return _Seen(super().get_template(template_name))
