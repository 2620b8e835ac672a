"""What a person types into a search box, as words to find: nothing of it is ever an error or an operator."""

import re
import unicodedata
from dataclasses import dataclass

# So many are looked for; a longer text is a pasted one.
MOST_PHRASES = 12
# A single letter is no beginning of a word: too much begins with it.
SHORTEST_BEGINNING = 2

_PARTS = re.compile(r'"([^"]*)"|([^\s"]+)')
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words beside each other, such as `v5p` and `64` for `v5p-64`; the last may be the beginning of a longer one."""

    words: tuple[str, ...]
    beginning: bool

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def fts5(self) -> str:
        """In the query language of SQLite's FTS5; there are letters and digits only, so nothing is to be escaped."""
        return f'"{self.text}"{" *" if self.beginning else ""}'


def phrases(text: str) -> list[Phrase]:
    """The phrases of a text: each part between blanks is one; what stands in double quotes is one, with whole words.

    Signs part words, so a slice's name, an address or a path is a phrase. A part without any word says nothing.
    An accent typed as a sign of its own is put together with its letter (NFC), as texts nearly always are stored.
    """
    found = []
    for part in _PARTS.finditer(unicodedata.normalize("NFC", text)):
        words = tuple(_WORD.findall(part[1] if part[1] is not None else part[2]))
        if words:
            found.append(Phrase(words, part[1] is None and len(words[-1]) >= SHORTEST_BEGINNING))
    return found[:MOST_PHRASES]
