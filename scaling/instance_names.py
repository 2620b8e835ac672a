"""The name of this control plane among others that share the database (IRIS_INSTANCE, else made of the host's name)."""

import re
from hashlib import sha256

LONGEST = 40
_DIGEST_CHARACTERS = 8
# "@" parts a loop's name from its instance's (scaling.loops.registry.OF_INSTANCE).
_NAME = re.compile("[!-?A-~]+")
_ODD = re.compile("[^!-?A-~]+")


def read(given: str, host: str) -> str:
    """`given`, or where it is empty a name of `host`; raises ValueError, one sentence, for one that cannot be used."""
    name = given.strip()
    if not name:
        return of_host(host)
    if len(name) > LONGEST or not _NAME.fullmatch(name):
        raise ValueError(f"expected 1 to {LONGEST} ASCII characters without blanks and @, got {name!r}")
    return name


def of_host(host: str) -> str:
    """The host's name where it fits. A longer one is told from its like by a hash of the whole.

    Pods differ at the end of their names, hosts with a domain at the beginning.
    """
    if len(host) <= LONGEST and _NAME.fullmatch(host):
        return host
    digest = sha256(host.encode(errors="backslashreplace")).hexdigest()[:_DIGEST_CHARACTERS]
    return f"{_ODD.sub('-', host)[: LONGEST - _DIGEST_CHARACTERS - 1]}-{digest}"
