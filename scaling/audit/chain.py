"""How a seal is made: its entries as bytes, and the hash that chains it to the seal before."""

import hashlib
import struct
from collections.abc import Iterator, Sequence
from datetime import datetime

from scaling.audit.canonical import DIGEST_BYTES, canonical
from scaling.models import Seal

GENESIS = "0" * 64
_ENTRY = struct.Struct(f">q{DIGEST_BYTES}s")
_PREFIX = b"iris-seal-1\n"

Entry = tuple[int, bytes]


def pack(entries: Sequence[Entry]) -> bytes:
    return b"".join(_ENTRY.pack(number, digest) for number, digest in entries)


def unpack(seal: Seal) -> Iterator[Entry]:
    """(id, digest) of each action of the seal, by id."""
    yield from _ENTRY.iter_unpack(bytes(seal.entries))


def is_whole(seal: Seal) -> bool:
    """Whether its hash is that of its columns, and its entries are as many as it says."""
    return hash_of(seal) == seal.hash and len(bytes(seal.entries)) == seal.actions * _ENTRY.size


def hash_of(seal: Seal) -> str:
    """SHA-256 over the seal's columns but its hash: one line of canonical JSON, then the entries."""
    head = canonical([seal.number, seal.at, seal.form, seal.after_id, seal.through_id, seal.actions, seal.previous])
    return hashlib.sha256(_PREFIX + head + b"\n" + bytes(seal.entries)).hexdigest()


def make_seal(
    number: int, at: datetime, form: int, after_id: int, through_id: int, entries: Sequence[Entry], previous: str
) -> Seal:
    """A seal that follows the one whose hash is `previous`; not stored yet."""
    seal = Seal(
        number=number, at=at, form=form, after_id=after_id, through_id=through_id, actions=len(entries),
        entries=pack(entries), previous=previous,
    )  # fmt: skip
    seal.hash = hash_of(seal)
    return seal
