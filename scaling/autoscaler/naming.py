"""Names of new slices: lower-case letters, digits and dashes, at most 63 characters, beginning with a letter."""

import hashlib
import re
from collections.abc import Container

LONGEST = 63
_TOKEN = 8
_FOREIGN = re.compile(r"[^a-z0-9]+")


def slice_name(prefix: str, group: str, seed: str, number: int, taken: Container[str]) -> str:
    """The name of the `number`-th new slice of a group in the cycle that `seed` names.

    The same arguments give the same name. It ends in a hash of all of them, so that shortening or replacing characters
    never makes two groups' names alike; `taken` names are passed over.
    """
    stem = _FOREIGN.sub("-", f"{prefix}-{group}".lower()).strip("-")
    if not stem[:1].isalpha():
        stem = f"s-{stem}".rstrip("-")
    stem = stem[: LONGEST - 1 - _TOKEN].rstrip("-")
    for attempt in range(1_000_000):
        text = "\n".join((prefix, group, seed, str(number), str(attempt)))
        name = f"{stem}-{hashlib.blake2s(text.encode(), digest_size=_TOKEN // 2).hexdigest()}"
        if name not in taken:
            return name
    raise ValueError(f"no free slice name is left for group {group}")
