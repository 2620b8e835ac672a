"""What nobody sees is refused in what people give, and made visible in what others send."""

import unicodedata

import pytest

from scaling.characters import check_line, check_text, harmless, without_hidden
from scaling.operations.acts import read_act
from scaling.operations.errors import InvalidRequest
from scaling.operations.inputs import Text
from scaling.platforms.base import PlatformError
from scaling.sources.gateway.errors import GatewayError
from scaling.sources.prometheus.errors import PrometheusError

DIRECTIONS = "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
SEEN = ("naïve", "خانه‌ها", "क्‍ष", "⚠️ look", "👩‍🚀", "東京", "שלום", "a\nb\tc")


@pytest.mark.parametrize(
    "char", [*DIRECTIONS, "\x00", "\x1b", "\x7f", "\x9b", "\u200b", "\ufeff", "\U000e0041"], ids=ascii
)
def test_a_hidden_character_is_refused_by_its_name_and_shown_where_it_cannot_be_refused(char: str) -> None:
    for check in (check_text, check_line, Text(50, lines=True).read):
        with pytest.raises(ValueError, match=rf"^expected no invisible characters, got U\+{ord(char):04X} \("):
            check(f"INC{char}77")
    assert harmless(f"INC{char}77") == "INC\ufffd77"
    assert without_hidden(f"INC{char}77") == "INC77"


@pytest.mark.parametrize("text", SEEN)
def test_what_any_script_is_written_with_is_text(text: str) -> None:
    check_text(text)
    assert harmless(text) == without_hidden(text) == text


def test_every_mark_of_direction_that_unicode_knows_is_among_them() -> None:
    """Of the planes that have any: by the class that the algorithm for both directions reads."""
    turning = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "BN"}
    found = [chr(code) for code in range(0x10000) if unicodedata.bidirectional(chr(code)) in turning]
    assert [char for char in found if harmless(char) == char] == ["\u200c", "\u200d"]


def test_a_note_has_lines_as_a_browser_sends_them_and_a_name_has_one() -> None:
    assert Text(50, lines=True).read("asked for quota\r\nsee INC-77\r\n") == "asked for quota\nsee INC-77"
    with pytest.raises(ValueError, match="expected one line without tabs, got U\\+000A"):
        Text(50).read("train\n7")


@pytest.mark.parametrize("field", ["note", "reason"])
def test_what_is_told_of_an_act_is_refused_with_its_place(field: str) -> None:
    with pytest.raises(InvalidRequest, match=rf"^{field}: expected no invisible characters, got U\+202E "):
        read_act(**{field: "INC-77 \u202e"})


@pytest.mark.parametrize("error", [PlatformError, GatewayError, PrometheusError])
def test_what_a_cloud_or_a_source_says_cannot_turn_a_sentence_around(error: type[Exception]) -> None:
    said = error("no \u202ecapacity\x1b[31m")
    assert (said.words if isinstance(said, PlatformError) else str(said)) == "no \ufffdcapacity\ufffd[31m"
