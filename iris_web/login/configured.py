"""What the environment says about logins: providers, proxies, roles. A value that cannot be meant is one sentence."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from urllib.parse import urlsplit

from iris_web.login.ip_addresses import read_address
from scaling.lyc_settings import names_a_host

Network = IPv4Network | IPv6Network
ROLES = ("viewer", "operator", "admin")
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,80}")


@dataclass(frozen=True, slots=True)
class RoleRule:
    """Which role words from outside stand for. `roles` empty: nothing is read from outside, admins give the roles."""

    roles: Mapping[str, str] = field(default_factory=dict)
    new_users: str = ""

    def role_of(self, words: Iterable[str]) -> str:
        """The highest role of these words; "" for none of them."""
        found = {self.roles[word] for word in words if word in self.roles}
        return next((role for role in reversed(ROLES) if role in found), "")


@dataclass(frozen=True, slots=True)
class Oidc:
    """An OpenID Connect provider; off without an issuer."""

    issuer: str = ""
    client_id: str = ""
    client_secret: str = ""
    scopes: str = "openid profile email"
    label: str = "single sign-on"
    name_claim: str = "preferred_username"
    role_claim: str = "groups"
    rule: RoleRule = field(default_factory=RoleRule)

    @property
    def enabled(self) -> bool:
        return bool(self.issuer)


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy in front that signs people in; its word counts from `networks` alone. Headers as in `request.META`."""

    networks: tuple[Network, ...] = ()
    user_header: str = ""
    role_header: str = ""
    time_header: str = ""
    rule: RoleRule = field(default_factory=RoleRule)

    @property
    def enabled(self) -> bool:
        return bool(self.user_header)

    def is_trusted(self, address: str) -> bool:
        client = read_address(address)
        return client is not None and any(client in network for network in self.networks)


def read_oidc(env: Mapping[str, str]) -> Oidc:
    """The provider of `IRIS_OIDC_*`; raises ValueError, of what only an issuer gives a use without one too."""
    usual = Oidc()
    scopes = env.get("IRIS_OIDC_SCOPES") or usual.scopes
    if "openid" not in scopes.split():
        raise ValueError(f"IRIS_OIDC_SCOPES: expected openid among them, got {scopes!r}")
    rule = _rule(env, "IRIS_OIDC_ROLES", "IRIS_OIDC_NEW_USERS")
    issuer = _issuer(env)
    if not issuer:
        return usual
    if not env.get("IRIS_OIDC_CLIENT_ID"):
        raise ValueError("IRIS_OIDC_CLIENT_ID: must be set with IRIS_OIDC_ISSUER")
    return Oidc(
        issuer=issuer,
        client_id=env["IRIS_OIDC_CLIENT_ID"],
        client_secret=env.get("IRIS_OIDC_CLIENT_SECRET", ""),
        scopes=scopes,
        label=env.get("IRIS_OIDC_LABEL") or usual.label,
        name_claim=env.get("IRIS_OIDC_NAME_CLAIM") or usual.name_claim,
        role_claim=env.get("IRIS_OIDC_ROLE_CLAIM") or usual.role_claim,
        rule=rule,
    )


def _issuer(env: Mapping[str, str]) -> str:
    issuer = env.get("IRIS_OIDC_ISSUER", "").strip()
    if not issuer:
        return ""
    is_web = issuer.lower().startswith(("http://", "https://")) and names_a_host(issuer)
    if not is_web or "?" in issuer or "#" in issuer:
        raise ValueError(f"IRIS_OIDC_ISSUER: expected an address such as https://login.example, got {issuer!r}")
    parts = urlsplit(issuer)
    if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise ValueError("IRIS_OIDC_ISSUER: expected https; http is for a provider on this machine only")
    return issuer


def read_proxy(env: Mapping[str, str]) -> Proxy:
    """The proxy of `IRIS_TRUSTED_PROXIES` and `IRIS_PROXY_*`; raises ValueError."""
    networks = tuple(_network(item) for item in _items(env.get("IRIS_TRUSTED_PROXIES", "")))
    user_header = _header(env, "IRIS_PROXY_USER_HEADER")
    if user_header and not networks:
        raise ValueError(
            "IRIS_TRUSTED_PROXIES: must name the addresses whose IRIS_PROXY_USER_HEADER is believed, such as 10.0.0.7"
        )
    return Proxy(
        networks=networks,
        user_header=user_header,
        role_header=_header(env, "IRIS_PROXY_ROLE_HEADER"),
        time_header=_header(env, "IRIS_PROXY_TIME_HEADER"),
        rule=_rule(env, "IRIS_PROXY_ROLES", "IRIS_PROXY_NEW_USERS"),
    )


def _rule(env: Mapping[str, str], mapping: str, newcomers: str) -> RoleRule:
    roles = {}
    for item in _items(env.get(mapping, "")):
        word, sign, role = item.rpartition("=")
        if not sign or not word or role not in ROLES:
            known = ", ".join(ROLES)
            raise ValueError(f"{mapping}: expected pairs such as iris-admins=admin, of {known}, got {item!r}")
        roles[word.strip()] = role
    new_users = env.get(newcomers, "").strip() or "none"
    if new_users not in ("none", "viewer"):
        raise ValueError(f"{newcomers}: expected viewer or none, got {new_users!r}")
    return RoleRule(roles, "" if new_users == "none" else new_users)


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _network(item: str) -> Network:
    try:
        return ip_network(item, strict=False)
    except ValueError:
        raise ValueError(
            f"IRIS_TRUSTED_PROXIES: expected addresses or networks such as 10.0.0.0/8, got {item!r}"
        ) from None


def _header(env: Mapping[str, str], name: str) -> str:
    """The header's key in `request.META`; "" where none is named."""
    text = env.get(name, "").strip()
    if text and not _HEADER.fullmatch(text):
        raise ValueError(f"{name}: expected a header's name such as X-Forwarded-User, got {text!r}")
    return f"HTTP_{text.upper().replace('-', '_')}" if text else ""
