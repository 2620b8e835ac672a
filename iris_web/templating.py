"""The template engine of all pages: what nobody sees in a text, and changes what is read, is a mark that all see.

New texts are refused with such characters (`scaling.characters`); those stored before that, or sent by others, are
shown with a mark in their place, in pages, fragments and the admin alike. Exports and the API make no use of templates:
they tell a record exactly as it is kept.
"""

from typing import Any

from django.template.backends.django import DjangoTemplates
from django.utils.safestring import SafeString, mark_safe

from scaling.characters import harmless


class _Seen:
    """A template whose outcome has nothing hidden in it; in all else it is the one that it wraps."""

    def __init__(self, template: Any) -> None:
        self._template = template

    def __getattr__(self, name: str) -> Any:
        return getattr(self._template, name)

    def render(self, context: Any = None, request: Any = None) -> SafeString:
        return mark_safe(harmless(self._template.render(context, request)))  # noqa: S308 - it was escaped in there


class Templates(DjangoTemplates):
    """Django's own templates, each as `_Seen`."""

    def from_string(self, template_code: str) -> Any:
        return _Seen(super().from_string(template_code))

    def get_template(self, template_name: str) -> Any:
        return _Seen(super().get_template(template_name))
