"""Addresses: what may be shown of one, and what never."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaling import notice_settings
from scaling.notices import addresses

SECRET = "hunter22secret"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"https://hooks.slack.com/services/T1/B2/{SECRET}", "https://hooks.slack.com/…"),
        (f"https://bob:{SECRET}@example.com:8443/x?token={SECRET}", "https://example.com:8443/…"),
        (f"slack://{SECRET}/{SECRET}/{SECRET}", "slack://…"),
        (f"slack+https://chat.example/hooks/{SECRET}", "slack+https://chat.example/…"),
        (f"mailto://bob:{SECRET}@gmail.com", "mailto://gmail.com/…"),
        (f"tgram://{SECRET}/123", "tgram://…"),
        (SECRET, "…"),
        (f"https://[{SECRET}", "https://…"),
    ],
)
def test_an_address_is_shown_without_its_secrets(url: str, shown: str) -> None:
    assert addresses.masked(url) == shown
    assert SECRET not in addresses.masked(url)


def test_an_error_text_is_scrubbed_of_everything_in_the_address() -> None:
    url = f"https://bob:p%40ss{SECRET}@example.com/hook/{SECRET}?key=abc{SECRET}"
    text = f"refused {url}; user bob, password p@ss{SECRET}, path /hook/{SECRET}, query key=abc{SECRET}, example.com"
    scrubbed = addresses.scrubbed(text, url)
    assert SECRET not in scrubbed and "example.com" in scrubbed


FORMS = ("json://host/{}", "slack://{}/b/c", "mailto://u:{}@host.example", "https://h.example/a?k={}")
WORDS = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=8, max_size=30)


@given(WORDS, st.sampled_from(FORMS))
def test_no_mask_or_scrubbed_text_holds_the_secret(secret: str, form: str) -> None:
    url = form.format(secret)
    assert secret not in addresses.masked(url)
    assert secret not in addresses.scrubbed(f"failed: {url} ({secret})", url)


@pytest.mark.parametrize("url", ["", "nothing", "://x", "https://", f"json://a b/{SECRET}", "json://a\x00b", "1x://a"])
def test_what_is_no_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError, match="expected an address") as refused:
        addresses.check_form(url)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        (f"https://h/{SECRET}#part", "without #"),
        (f"https://h:99999/{SECRET}", "a port from"),
        ("slack+http://:80/a", "host"),
    ],
)
def test_what_a_webhook_would_never_get_is_refused(url: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as refused:
        addresses.check_form(url)
    assert SECRET not in str(refused.value)
    addresses.check_form("slack://TokenA/TokenB/TokenC/#channel")


def test_the_environment_names_addresses_parted_by_blanks_and_each_once() -> None:
    assert notice_settings.read_urls(" json://a/x\nmailto://b  json://a/x ") == ("json://a/x", "mailto://b")
    assert notice_settings.read_urls("") == ()


def test_a_wrong_address_of_the_environment_is_named_by_its_number_alone() -> None:
    with pytest.raises(ValueError, match=r"^IRIS_NOTICE_URLS: expected an address .*, as number 2$") as refused:
        notice_settings.read_urls(f"json://a/x {SECRET}")
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "iris.example",
        "ftp://iris.example",
        "https://",
        "https://iris.example/?x=1",
        "https://iris.example:0",
        "https://[i",
    ],
)
def test_a_site_is_a_whole_web_address(text: str) -> None:
    with pytest.raises(ValueError, match="IRIS_SITE_URL: expected an address such as"):
        notice_settings.read_site(text)


def test_a_site_is_kept_without_a_slash_at_its_end() -> None:
    assert notice_settings.read_site("https://iris.example/") == "https://iris.example"
    assert notice_settings.read_site("") == ""
