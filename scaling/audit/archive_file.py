"""An archive: old actions with their seals in a file that can be verified for itself and against the chain.

The file is JSON lines under gzip: `{"iris_archive": 1, "after_seal": n, "after_hash": ...}`, then for each seal
`{"seal": {columns, entries in hexadecimal}}` followed by `{"action": {columns}}` for each action it covers, and at the
end `{"end": {"seals": n, "actions": n, "head": hash}}`.
"""

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from scaling.audit.canonical import COLUMNS, time_text
from scaling.audit.chain import GENESIS, is_whole
from scaling.audit.verifying import Broken, Values, stored_rows, verify_rows
from scaling.models import Seal

_VERSION = 1
_SEAL = ("number", "at", "form", "after_id", "through_id", "actions", "previous", "hash")

# What reading raises where bytes are not those that were written: of the gzip, the text, the JSON, and what it tells.
_NOT_WHOLE = (
    OSError, EOFError, zlib.error, ValueError, OverflowError, RecursionError, KeyError, TypeError, AttributeError,
)  # fmt: skip


class ArchiveError(Exception):
    """An archive cannot be written or read; the message is one sentence."""


@dataclass(slots=True)
class Contents:
    """What it holds: actions with `after_id` < id <= `through_id`, up to seal `last_seal`, whose hash is `head`."""

    after_id: int = 0
    seals: int = 0
    actions: int = 0
    through_id: int = 0
    last_seal: int = 0
    head: str = ""


def reach(archives: Iterable[Contents]) -> int:
    """The id up to which they hold every action from the beginning of the history; 0 where they do not hold that."""
    through = 0
    for one in sorted(archives, key=lambda one: one.after_id):
        if one.after_id <= through:
            through = max(through, one.through_id)
    return through


def write_archive(path: Path, seals: Iterator[Seal], after_seal: int, after_hash: str) -> None:
    """Write whole or not at all: beside its place first, then moved there. Rows are compared with their seals.

    Raises ArchiveError for a place that cannot be written, Broken for rows that are not as they were sealed.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as raw:
            with gzip.open(raw, "wt", encoding="ascii") as out:
                _write(out, seals, after_seal, after_hash)
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(part, path)
        _sync_folder(path.parent)
    except Broken:
        part.unlink()
        raise
    except OSError as error:
        raise ArchiveError(f"{path} cannot be written: {error.strerror or error}.") from None


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _write(out: IO[str], seals: Iterator[Seal], after_seal: int, after_hash: str) -> None:
    def line(name: str, value: object, **more: object) -> None:
        out.write(json.dumps({name: value, **more}, separators=(",", ":")) + "\n")

    def written(seal: Seal) -> Iterator[Values]:
        for row in stored_rows(seal):
            line("action", {name: _plain(value) for name, value in zip(COLUMNS[seal.form], row, strict=True)})
            yield row

    line("iris_archive", _VERSION, after_seal=after_seal, after_hash=after_hash)
    count, total, head = 0, 0, after_hash
    for seal in seals:
        told = {name: _plain(getattr(seal, name)) for name in _SEAL}
        line("seal", told | {"entries": bytes(seal.entries).hex()})
        verify_rows(seal, written(seal))
        count, total, head = count + 1, total + seal.actions, seal.hash
    line("end", {"seals": count, "actions": total, "head": head})


def _plain(value: Any) -> Any:
    return time_text(value) if isinstance(value, datetime) else value


def verify_archive(path: Path) -> Contents:
    """Verify each row against its seal, the seals against each other, and the last one against this database's chain.

    Raises ArchiveError for a file that is no whole archive, Broken for what is not as sealed or of another chain.
    """
    contents = Contents()
    try:
        with gzip.open(path, "rt", encoding="ascii") as lines:
            _verify(path, (json.loads(line) for line in lines), contents)
    except FileNotFoundError:
        raise ArchiveError(f"There is no file {path}.") from None
    except _NOT_WHOLE:
        raise ArchiveError(f"{path} is not a whole archive of Iris.") from None
    kept = Seal.objects.filter(number=contents.last_seal).values_list("hash", flat=True).first()
    if contents.seals and kept != contents.head:
        raise Broken(f"{path} is not of this chain: seal {contents.last_seal} has another hash here.")
    return contents


def _verify(path: Path, lines: Iterator[dict[str, Any]], contents: Contents) -> None:
    head = next(lines, None)
    if head is None or head.get("iris_archive") != _VERSION:
        raise ArchiveError(f"{path} is not an archive of Iris in form {_VERSION}.")
    contents.last_seal, contents.head = int(head["after_seal"]), head["after_hash"]
    line = next(lines, {})
    while "seal" in line:
        seal = _seal(line["seal"])
        if seal.number != contents.last_seal + 1 or seal.previous != contents.head or not is_whole(seal):
            raise Broken(f"Seal {seal.number} in {path} was altered, or does not follow the one before it.")
        line = _verify_seal(seal, lines)
        contents.after_id = contents.after_id if contents.seals else seal.after_id
        contents.seals, contents.actions = contents.seals + 1, contents.actions + seal.actions
        contents.last_seal, contents.head, contents.through_id = seal.number, seal.hash, seal.through_id
    told = {"seals": contents.seals, "actions": contents.actions, "head": contents.head}
    if line.get("end") != told:
        raise ArchiveError(f"{path} is cut off after seal {contents.last_seal}.")
    # Read to its end, where the check sum of the whole stands.
    if next(lines, None) is not None:
        raise ArchiveError(f"{path} holds more behind its end.")


def _verify_seal(seal: Seal, lines: Iterator[dict[str, Any]]) -> dict[str, Any]:
    """Compare the actions that follow with the seal; returns the first line behind them."""
    behind: list[dict[str, Any]] = []

    def rows() -> Iterator[Values]:
        for line in lines:
            if "action" not in line:
                behind.append(line)
                return
            yield tuple(_moment(name, line["action"][name]) for name in COLUMNS[seal.form])

    verify_rows(seal, rows())
    return behind[0] if behind else {}


def _moment(name: str, value: Any) -> Any:
    return datetime.fromisoformat(value).astimezone(UTC) if name == "at" else value


def _seal(told: dict[str, Any]) -> Seal:
    columns = {name: _moment(name, told[name]) for name in _SEAL}
    return Seal(**columns, entries=bytes.fromhex(told["entries"]))


def start_of_chain() -> tuple[int, str]:
    """What the first archive begins after: no seal."""
    return 0, GENESIS
