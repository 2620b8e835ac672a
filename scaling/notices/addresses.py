"""The addresses of channels: what may be shown of one, and what must never be. Pure."""

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, unquote, urlsplit

# Schemes whose host is a host; in the others it is a part of the secret, as in slack://TokenA/TokenB/TokenC.
_HOST_IS_PUBLIC = frozenset({
    "http", "https", "slack+http", "slack+https", "json", "jsons", "form", "forms", "xml", "xmls", "mailto", "mailtos",
    "mmost", "mmosts", "rocket", "rockets", "gotify", "gotifys", "matrix", "matrixs",
})  # fmt: skip
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,30}\Z", re.IGNORECASE)
_PARTS = re.compile(r"[/:@#,;= ]+")
_SHORTEST_SECRET = 4
SLACK_FIELDS = ":message=text&:version=&:title=&:attachments=&:type="


def check_form(url: str) -> None:
    """Raises ValueError, whose sentence tells nothing of the address, for what has not the form of one."""
    scheme, separator, rest = url.strip().partition("://")
    if not separator or not _SCHEME.match(scheme) or not rest.strip("/"):
        raise ValueError("expected an address such as https://…, slack+https://…, slack://… or mailto://…")
    if any(character.isspace() or not character.isprintable() for character in url.strip()):
        raise ValueError("expected an address without blanks and control characters (write a blank as %20)")


def masked(url: str) -> str:
    """What of it may be shown: the scheme, and the host where that is no secret."""
    scheme, separator, _ = url.partition("://")
    scheme = scheme.lower()
    if not separator or not _SCHEME.match(scheme):
        return "…"
    host = _host(url) if scheme in _HOST_IS_PUBLIC else ""
    return f"{scheme}://{host}/…" if host else f"{scheme}://…"


def scrubbed(text: str, url: str) -> str:
    """`text` without anything of the address that is not shown."""
    for secret in sorted(_secrets(url), key=len, reverse=True):
        text = text.replace(secret, "…")
    return text


def for_slack(url: str) -> str:
    """The library's address for a receiver of Slack's own form of messages, `slack+https://host/path`."""
    plain = re.sub(r"^slack\+http(s?)://", r"json\1://", url, flags=re.IGNORECASE)
    return f"{plain}{'&' if '?' in plain else '?'}{SLACK_FIELDS}"


def is_for_slack(url: str) -> bool:
    return url.lower().startswith(("slack+http://", "slack+https://"))


def as_webhook(url: str) -> str:
    """The library's address for a plain webhook at `http(s)://…`."""
    return re.sub(r"^http(s?)://", r"json\1://", url, flags=re.IGNORECASE)


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    return f"{parts.hostname}{port}" if parts.hostname else ""


def _secrets(url: str) -> set[str]:
    """Everything in it but scheme, public host and the names of parameters, as it stands and as it is meant."""
    scheme, _, rest = url.partition("://")
    before, _, query = rest.partition("?")
    values = [value for _, value in parse_qsl(query)]
    pieces = [rest, before, *query.split("&"), *values]
    pieces += [piece for whole in (before, *values) for piece in _PARTS.split(whole)]
    host = _host(url)
    public = {host, host.partition(":")[0]} if scheme.lower() in _HOST_IS_PUBLIC else set()
    return {form for form in _forms(pieces) if len(form) >= _SHORTEST_SECRET and form not in public}


def _forms(pieces: Iterable[str]) -> Iterable[str]:
    for piece in pieces:
        yield piece
        yield unquote(piece)
