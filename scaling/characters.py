"""Characters that nobody sees, though they change what is read: one rule for names, texts, and what others send.

Control characters (Unicode's C0 and C1), marks that turn the direction of the text around them, blanks without width,
halves of surrogate pairs (no database stores them, nor NUL). Joiners and variation selectors are not among them, since
Persian, Hindi and many emoji are written with them. Line breaks and tabs belong to texts, not to names.
"""

import re
import unicodedata

_LINE_BREAKS = re.compile("[\t\n\r\x0b\x0c\x85\u2028\u2029]")
_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and line feed, delete, C1
    "\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069"  # directions: marks, embeddings, overrides, isolates
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"  # no width, or blank
    "\u2028\u2029\ufff9-\ufffb"  # breaks of lines and paragraphs, interlinear notes
    "\ud800-\udfff"
    "\U0001d173-\U0001d17a\U000e0000-\U000e007f"  # of music, tags
    "]"
)
REPLACED = "\N{REPLACEMENT CHARACTER}"


def check_text(text: str) -> None:
    """Raise ValueError, in one sentence, for a text with a character that nobody sees."""
    if not _plain(text) and (found := _HIDDEN.search(text)):
        raise hidden(found[0])


def check_line(text: str) -> None:
    """The same for a name or an id, which has no line breaks and tabs either."""
    if _plain(text):
        return
    if found := _LINE_BREAKS.search(text):
        raise ValueError(f"expected one line without tabs, got {called(found[0])}")
    check_text(text)


def hidden(char: str) -> ValueError:
    return ValueError(f"expected no invisible characters, got {called(char)}")


def harmless(text: str) -> str:
    """A text that was not ours to refuse: whatever nobody sees is a mark that everybody sees, of the same length."""
    return text if _plain(text) else _HIDDEN.sub(REPLACED, text.replace("\r\n", "\n"))


def has_hidden(text: str) -> bool:
    """Whether `harmless` would change anything but line breaks of this text."""
    return not _plain(text) and _HIDDEN.search(text) is not None


def without_hidden(text: str, instead: str = "") -> str:
    """What is left to search for, of words that were pasted with more than is seen."""
    return text if _plain(text) else _HIDDEN.sub(instead, text)


def _plain(text: str) -> bool:
    """Whether a look tells that nothing is hidden: most texts are ASCII, and Python knows what it can print of that."""
    return text.isascii() and text.isprintable()


def called(char: str) -> str:
    """`U+202E (right-to-left override)`."""
    return f"U+{ord(char):04X} ({unicodedata.name(char, 'control character').lower()})"
