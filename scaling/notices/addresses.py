"""The addresses of channels: what may be shown of one, and what must never be. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

# Schemes whose host is a host; in the others it is a part of the secret, as in slack://TokenA/TokenB/TokenC.
_HOST_IS_PUBLIC = frozenset({
    "http", "https", "slack+http", "slack+https", "json", "jsons", "form", "forms", "xml", "xmls", "mailto", "mailtos",
    "mmost", "mmosts", "rocket", "rockets", "gotify", "gotifys", "matrix", "matrixs",
})  # fmt: skip
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,30}\Z", re.IGNORECASE)
_PARTS = re.compile(r"[/:@#,;= ]+")
_SHORTEST_SECRET = 4
_SLACK_FIELDS = ":message=text&:version=&:title=&:attachments=&:type="
_WEBHOOK_SCHEMES = frozenset({"http", "https", "slack+http", "slack+https"})


@dataclass(frozen=True, slots=True)
class Webhook:
    """`service` is the library's address of the receiver; path and query are the receiver's own, as they were typed."""

    service: str
    path: str
    query: str


def check_form(url: str) -> None:
    """Raises ValueError, whose sentence tells nothing of the address, for what has not the form of one."""
    scheme, separator, rest = url.strip().partition("://")
    if not separator or not _SCHEME.match(scheme) or not rest.strip("/"):
        raise ValueError("expected an address such as https://…, slack+https://…, slack://… or mailto://…")
    if any(character.isspace() or not character.isprintable() for character in url.strip()):
        raise ValueError("expected an address without blanks and control characters (write a blank as %20)")
    if scheme.lower() in _WEBHOOK_SCHEMES:
        _check_webhook(url.strip())


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


def is_for_slack(url: str) -> bool:
    return url.lower().startswith(("slack+http://", "slack+https://"))


def as_webhook(url: str) -> Webhook:
    """A plain web address, or `slack+https://…`, in parts: the library would take its query for options of its own."""
    scheme, _, rest = url.partition("://")
    base, _, query = rest.partition("#")[0].partition("?")
    authority, slash, path = base.partition("/")
    found = f"json{'s' if scheme.lower().endswith('https') else ''}://{authority}{slash}{path}"
    return Webhook(f"{found}?{_SLACK_FIELDS}" if is_for_slack(url) else found, f"/{path}", query)


def _check_webhook(url: str) -> None:
    """What the receiver would never see, or nobody could reach: a fragment, a port that there is not."""
    parts = urlsplit(url)
    if parts.fragment or "#" in url:
        raise ValueError("expected an address without #, which is never sent (write one that is meant as %23)")
    try:
        is_reachable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_reachable = False
    if not is_reachable:
        raise ValueError("expected an address with a host and, where one is named, a port from 1 to 65535")


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
