"""Names that stand in the history for who did something: readable as what they are, and like no other one's.

After Unicode's security mechanisms (UTS 39): nothing invisible, one alphabet in a name, and none that is drawn like a
name that is taken. With the standard library's character data: an alphabet is the first word of a character's name.
"""

import unicodedata
from collections.abc import Iterable

from scaling.characters import called, check_text, hidden

# Alphabets that are written beside one another every day; all others stand alone in a name.
_TOGETHER = (
    frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "IDEOGRAPHIC"}),
    frozenset({"LATIN", "CJK", "HANGUL"}),
    frozenset({"LATIN", "CJK", "BOPOMOFO"}),
)
# More than what no text may have (`scaling.characters`), since a name must not be taken for another: all formats, what
# has no meaning yet, and letters and marks that are not drawn: fillers, joiners, variation selectors, a blank pattern.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_BLANK = frozenset(
    map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0))
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
# Ordinary letters of Thai and Lao, though Unicode calls them another form of two others.
_WHOLE = frozenset("\u0e33\u0eb3")
# Whole names can be written with another alphabet's letters: each, small, with the Latin one that it is drawn as.
_DRAWN = {
    **dict(zip("авсԁеғһіјкӏмноргѕтуѵѡхԛԝүӕ", "abcdefhijklmhoprstyvwxqwyæ", strict=True)),
    **dict(zip("αβγεικνορστυχωϲϳ", "abyeikvopotuxwcj", strict=True)),
    **dict(zip("աեհոսօզցյ", "whhnuoqgj", strict=True)),
    **dict(zip("ɑɡıɩȷƽ", "agiijs", strict=True)),
    # Small capitals, and letters for clicks.
    **dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnopqrstuvwyz", strict=True)),
    **dict(zip("ᴁɶǀǃ", "æœl!", strict=True)),
    "ǁ": "ll",
}
_TABLE = str.maketrans(_DRAWN)
# What many fonts draw alike, and hurried readers take for each other: `adm1n` and `admin`, `lris` and `Iris`.
_ALIKE = str.maketrans("1iIL|0", "lllllo")
# Among those, letters that everybody tells apart: Neil and Nell are two names, in small letters and in capitals.
_TOLD_APART = frozenset(map(frozenset, ("il", "iL", "IL")))
# Hyphens, dashes and minus signs that are drawn like the plain one.
_DASHES = frozenset(map(chr, (*range(0x2010, 0x2016), 0x02D7, 0x2043, 0x2212)))
_DOT_ABOVE = "\u0307"


def check_name(name: str, taken: Iterable[str] = ()) -> None:
    """Raise ValueError, in one sentence, for a name that a reader could take for another. `taken`: other names."""
    check_text(name)
    for char in name:
        if char in _BLANK or unicodedata.category(char) in _UNSEEN or (char.isspace() and char != " "):
            raise hidden(char)
    _check_hidden(name)
    composed = unicodedata.normalize("NFC", name)
    for char in composed:
        if char not in _WHOLE and unicodedata.normalize("NFKC", char) != char:
            raise ValueError(f'expected plain characters, got "{char}", {called(char)}')
    _check_alphabets(composed)
    _check_taken(composed, taken)


def _check_hidden(name: str) -> None:
    """What is there and hardly seen: a second space, another dash, a dot over a letter that has one."""
    if "  " in name:
        raise ValueError("expected one space between words, got two")
    base = ""
    for char in unicodedata.normalize("NFD", name):
        if char in _DASHES:
            raise ValueError(f'expected the plain hyphen "-", got {called(char)}')
        if char == _DOT_ABOVE and _DRAWN.get(base, base) in ("i", "j"):
            raise ValueError(f'expected plain characters, got {called(char)} over "{base}", where nobody sees it')
        base = base if unicodedata.combining(char) else char


def _check_alphabets(name: str) -> None:
    first: dict[str, str] = {}
    for char in name:
        if unicodedata.category(char)[0] in "LN" and (alphabet := _alphabet(char)):
            first.setdefault(alphabet, char)
    if len(first) > 1 and not any(first.keys() <= together for together in _TOGETHER):
        (one, letter), (other, stranger) = list(first.items())[:2]
        raise ValueError(
            "expected letters of one alphabet, which nobody can take for others: "
            f'"{letter}" is {one.capitalize()} and "{stranger}" is {other.capitalize()}'
        )


def _check_taken(name: str, taken: Iterable[str]) -> None:
    drawn = _drawn(name)
    like = next((other for other in taken if other != name and _are_alike(drawn, _drawn(other))), None)
    if like is not None:
        raise ValueError(f'"{name}" looks like "{like}", which is taken: choose another name')


def _drawn(name: str) -> str:
    """How a name is drawn, in Latin letters where it can be: without its case, but of `I` and `L`."""
    return "".join(map(_drawn_char, unicodedata.normalize("NFKC", name)))


def _drawn_char(char: str) -> str:
    small = char.casefold().translate(_TABLE)
    return small.upper() if small in ("i", "l") and char.isupper() else small


def _are_alike(one: str, other: str) -> bool:
    """Whether two names, as drawn, are taken for each other: alike in every place."""
    return one.translate(_ALIKE) == other.translate(_ALIKE) and not any(
        frozenset(places) in _TOLD_APART for places in zip(one, other, strict=True)
    )


def _alphabet(char: str) -> str:
    """`LATIN`, `CYRILLIC` ...; "" for the plain digits, which go with all."""
    if char.isascii() and char.isdigit():
        return ""
    return unicodedata.name(char, "?").removeprefix("EXTENDED ").replace("-", " ").split()[0]
