"""Addresses as peers and proxies write them."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
# What one customer of a provider is given at least (RFC 6177): within it, each can take any address at will.
HOUSEHOLD_BITS = 64


def read_address(text: str) -> Address | None:
    """The address in `1.2.3.4`, `1.2.3.4:80`, `fe80::1%eth0`, `[::1]` or `[::1]:80`; None where there is none.

    An IPv4 address inside an IPv6 one (`::ffff:1.2.3.4`) is the IPv4 address.
    """
    text = text.strip()
    if text.startswith("["):
        text, closing, port = text[1:].partition("]")
        if not closing or not _is_port(port):
            return None
    elif text.count(":") == 1:
        text, colon, port = text.partition(":")
        if not _is_port(colon + port):
            return None
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def household(address: Address) -> Address:
    """What wrong passwords are counted by: an IPv4 address, or the first address of an IPv6 one's /64."""
    if isinstance(address, IPv4Address):
        return address
    return IPv6Network((int(address), HOUSEHOLD_BITS), strict=False).network_address


def _is_port(text: str) -> bool:
    """Whether this is what may follow an address: nothing, or a colon and digits."""
    return not text or (text[0] == ":" and text[1:].isascii() and text[1:].isdigit())
