"""What is typed, as words to find."""

from scaling.audit.words import phrases


def test_an_accent_typed_as_a_sign_of_its_own_is_the_letter_with_it() -> None:
    assert phrases("Zu\u0308rich") == phrases("Z\u00fcrich")
    assert phrases("Zu\u0308rich")[0].words == ("Z\u00fcrich",)
