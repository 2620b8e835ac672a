"""What stands beside and over the bars and cells of the capacity picture: families with what they hold, and zones.

Put together by hand and once for each input, as the cells are; what is not our own is escaped.
"""

from functools import lru_cache
from urllib.parse import urlencode

from django.utils.html import escape
from django.utils.safestring import SafeString

from iris_web.pages import words

# How the list of groups names the absence of a zone in its address.
NO_ZONE = "-"


@lru_cache(1024)
def family(label: str, url: str, word: str, used: int, free: int, coming: int, maximum: int) -> SafeString:
    """A family's name, which leads to its groups, and its sum: `36 used · 4 free · 2 coming of 64 chips`."""
    held = [(used, "used"), (free, "free"), *([(coming, "coming")] if coming else [])]
    parts = " · ".join(f"<b>{words.number(number)}</b> {name}" for number, name in held)
    of = f'<span class="dim">of {words.number(maximum)} {word}</span>'
    return SafeString(f'<a href="{escape(url)}">{escape(label)}</a><span class="family-sum">{parts} {of}</span>')


@lru_cache(1024)
def zone(name: str) -> SafeString:
    """The head of a column, which leads to the zone's groups."""
    address = f"/groups/?{urlencode({'zone': name or NO_ZONE})}"
    return SafeString(f'<th scope="col"><a href="{escape(address)}">{escape(name or "no zone")}</a></th>')
