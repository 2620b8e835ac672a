"""Addresses inside what people write, as links: only whole http and https ones, never what merely looks like a name."""

import re

from django.utils.html import Urlizer
from django.utils.safestring import SafeString, mark_safe


class _Linker(Urlizer):
    """Django's own, without its guesses: `rack4.net` and `ana@here` stay words; a link tells its target nothing."""

    simple_url_2_re = re.compile(r"(?!)")
    url_template = '<a href="{href}" rel="nofollow noopener noreferrer">{url}</a>'

    @staticmethod
    def is_email_simple(value: str) -> bool:  # noqa: ARG004
        return False


_linker = _Linker()


def linked(text: str) -> SafeString:
    """The text, escaped, with its addresses as links."""
    return mark_safe(_linker(str(text), autoescape=True))  # noqa: S308 - escaped word by word
