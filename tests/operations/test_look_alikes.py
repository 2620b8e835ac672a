"""Names that a reader could take for others are refused; names of every alphabet are not."""

import re

import pytest

from scaling.operations.look_alikes import check_name


@pytest.mark.parametrize(
    "name",
    [
        "ada",
        "ci-01",
        "Zoë.B@example.com",
        "José",
        "Жанна",
        "Ελένη",
        "山田taro",
        "カタログ・1",
        "김민수",
        "ci slurm_2",
        "สำรวย",
        "علی۱",
    ],
)
def test_a_name_of_one_alphabet_is_taken(name: str) -> None:
    check_name(name, [name, "somebody else"])


@pytest.mark.parametrize(
    "char", "\0\x7f\t\n\x85\xa0\xad\u034f\u200b\u200d\u202e\u2028\u2066\u2800\u3000\u3164\ufe0f\ufeff\U000e0041"
)
def test_what_nobody_sees_is_refused(char: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"expected no invisible characters, got U+{ord(char):04X} (")):
        check_name(f"ad{char}min")


@pytest.mark.parametrize("name", ["\u0430dmin", "admi\u03bd", "c\u04cf-1", "ops\u0660", "Ελa"])
def test_alphabets_are_not_mixed(name: str) -> None:
    with pytest.raises(ValueError, match="expected letters of one alphabet"):
        check_name(name)


@pytest.mark.parametrize("name", ["\uff41dmin", "\U0001d41admin", "\ufb01ne", "a\u00b2"])
def test_another_form_of_a_plain_character_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="expected plain characters"):
        check_name(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ci  1", "expected one space between words"),
        ("ci\u20101", 'expected the plain hyphen "-", got U+2010'),
        ("ci\u22121", 'expected the plain hyphen "-", got U+2212'),
        ("admi\u0307n", 'got U+0307 (combining dot above) over "i"'),
    ],
)
def test_what_is_hardly_seen_is_refused(name: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        check_name(name)


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("Admin", "admin"),
        ("adm1n-l", "ADM1N-1"),
        ("lris", "Iris"),
        ("adm1n", "admin"),
        ("NE1L", "neil"),
        ("mI|a", "mlIa"),
        ("lan", "Ian"),
        ("t-v1ewer", "t-viewer"),
        ("0PS", "ops"),
        ("bob0", "bobO"),
        ("\u0430\u0441\u0435", "ace"),
        ("\u0410\u0421\u0415", "ace"),
        ("\u03bf\u03c1", "op"),
        ("\u0251da", "ada"),
        ("b\u1d0fb", "bob"),
        ("\u1d04\u026a", "ci"),
        ("\ua731am", "sam"),
        ("a\u01c0", "al"),
    ],
)
def test_a_name_that_is_drawn_like_another_is_refused_either_way_round(name: str, taken: str) -> None:
    for new, old in ((name, taken), (taken, name)):
        with pytest.raises(ValueError, match=re.escape(f'"{new}" looks like "{old}", which is taken')):
            check_name(new, ["someone", old])


@pytest.mark.parametrize(("name", "other"), [("Neil", "Nell"), ("NEIL", "NELL"), ("Kai", "kal"), ("mia", "mla")])
def test_letters_that_everybody_tells_apart_make_two_names(name: str, other: str) -> None:
    for new, old in ((name, other), (other, name)):
        check_name(new, [old])
