"""Reads what the environment says of notices. Pure: the settings are read before Django is."""

from scaling.lyc_settings import names_a_host
from scaling.notices import addresses


def read_urls(text: str) -> tuple[str, ...]:
    """The addresses, parted by blanks or new lines; raises ValueError, which tells none of them."""
    urls = tuple(dict.fromkeys(text.split()))
    for number, url in enumerate(urls, 1):
        try:
            addresses.check_form(url)
        except ValueError as wrong:
            raise ValueError(f"IRIS_NOTICE_URLS: {wrong}, as number {number}") from None
    return urls


def read_site(text: str) -> str:
    """The address of this site as notices name it, without a slash at its end; "" where none is given."""
    site = text.strip().rstrip("/")
    is_web = site.lower().startswith(("http://", "https://")) and names_a_host(site)
    if site and (not is_web or "?" in site or "#" in site):
        raise ValueError(f"IRIS_SITE_URL: expected an address such as https://iris.example, got {text.strip()!r}")
    return site
