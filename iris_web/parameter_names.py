"""What pages and API call differently in an address, so that each can name the word of its own for the other's."""

from collections.abc import Container

# (a page's, the API's); of several that mean the same, the one to name first.
_WORDS = (
    ("from", "since"),
    ("to", "until"),
    ("span", "since"),
    ("after", "cursor"),
    ("before", "cursor"),
    ("page", "cursor"),
    ("pool", "quota_pool"),
    ("code", "hint"),
    ("owner", "acknowledged"),
)


def of_api(name: str, known: Container[str]) -> str:
    """What the API calls a page's `name`, among those it takes here; "" where it has no other word."""
    return next((api for page, api in _WORDS if page == name and api in known), "")


def of_page(name: str, known: Container[str]) -> str:
    """What a page calls the API's `name`, among those it takes; "" where it has no other word."""
    return next((page for page, api in _WORDS if api == name and page in known), "")
