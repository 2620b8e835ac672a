"""Old actions leave into a file that proves itself; whatever breaks off is taken up, and the chain stays whole."""

import gzip
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from scaling.audit import archiving, sealing
from scaling.audit.archive_file import ArchiveError, verify_archive
from scaling.audit.archives import ARCHIVE_KIND, removed_through
from scaling.audit.archiving import archive
from scaling.audit.verifying import Broken, verify
from scaling.clock import FrozenClock
from scaling.history import Actor, record
from scaling.models import Action, ArchivePass, Seal
from tests.audit.conftest import Tamper

pytestmark = pytest.mark.django_db


def test_old_actions_leave_and_both_parts_still_verify(cut: datetime, file: Path, actor: Actor) -> None:
    old = list(Action.objects.order_by("id")[:20])
    done = archive(actor, cut, file, "a year is enough")
    assert (done.contents.actions, done.contents.seals, done.removed) == (20, 2, 20)
    assert not Action.objects.filter(pk__lte=old[-1].pk).exists() and Seal.objects.count() == 3
    report = verify()
    assert (report.actions, report.archived) == (30, 20)
    assert verify_archive(file).head == Seal.objects.get(number=2).hash
    told = Action.objects.get(kind="archive_actions")
    assert (told.actor, told.reason, told.target) == (actor.name, "a year is enough", "file old.jsonl.gz")
    assert told.after["through_id"] == old[-1].pk and not ArchivePass.objects.exists()


def test_the_next_archive_goes_on_where_the_last_one_ended(
    cut: datetime, file: Path, actor: Actor, frozen_clock: FrozenClock
) -> None:
    archive(actor, cut, file)
    frozen_clock.advance(3600)
    sealing.seal_new(frozen_clock())
    second = file.with_name("next.jsonl.gz")
    done = archive(actor, frozen_clock(), second)
    assert done.contents.actions == 11 and done.contents.last_seal == 4
    assert verify().archived == 31 and verify_archive(file).actions == 20


def test_only_whole_seals_leave_and_nothing_is_an_error(cut: datetime, file: Path, actor: Actor, now: datetime) -> None:
    with pytest.raises(ArchiveError, match=r"No sealed batch of actions is older than 2025-12-31"):
        archive(actor, now - timedelta(hours=20), file)
    assert not file.exists() and not Action.objects.filter(kind="archive_actions").exists()


def test_the_guard_lets_go_what_is_archived_and_nothing_else(cut: datetime) -> None:
    refused = pytest.raises(DatabaseError, match="scaling_action is append-only")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        ArchivePass.objects.create(through_id=Action.objects.earliest("id").pk)
        cursor.execute("DELETE FROM scaling_action")
    assert Action.objects.count() == 30


@pytest.mark.parametrize("step", ["_record", "_remove", "_remove_batch"])
def test_what_broke_off_is_taken_up_with_the_same_file(
    step: str, cut: datetime, file: Path, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archiving, "BATCH_ROWS", 8)
    whole, calls = getattr(archiving, step), []

    def killed(*given: object) -> object:
        calls.append(given)
        if step != "_remove_batch" or len(calls) == 2:
            raise KeyboardInterrupt
        return whole(*given)

    with monkeypatch.context() as patch:
        patch.setattr(archiving, step, killed)
        with pytest.raises(KeyboardInterrupt):
            archive(actor, cut, file)
    assert verify().actions == 30, "half removed is still verified"
    if step != "_record":
        with pytest.raises(
            ArchiveError, match=r"The last archive is not finished: give its file again, file old.jsonl"
        ):
            archive(actor, cut, file.with_name("other"))
    archive(actor, cut, file)
    assert Action.objects.filter(kind="archive_actions").count() == 1 and verify().archived == 20


def test_the_same_again_when_all_is_done_changes_nothing(cut: datetime, file: Path, actor: Actor) -> None:
    archive(actor, cut, file)
    done = archive(actor, cut, file)
    assert done.removed == 0 and Action.objects.filter(kind="archive_actions").count() == 1


def test_a_history_that_is_not_as_sealed_is_not_archived(
    cut: datetime, file: Path, actor: Actor, tamper: Tamper
) -> None:
    tamper("UPDATE scaling_action SET reason = 'x' WHERE id = (SELECT min(id) FROM scaling_action)")
    with pytest.raises(Broken, match="was changed after it was sealed"):
        archive(actor, cut, file)
    assert Action.objects.count() == 30 and not file.exists()


def altered(file: Path, old: str, new: str) -> None:
    text = gzip.decompress(file.read_bytes()).decode()
    assert old in text
    file.write_bytes(gzip.compress(text.replace(old, new, 1).encode()))


def test_a_changed_archive_names_its_first_broken_row(cut: datetime, file: Path, actor: Actor) -> None:
    archive(actor, cut, file)
    altered(file, "deficit 7", "deficit 8")
    with pytest.raises(Broken, match=r"Action \d+ \(scale_up\) was changed after it was sealed by seal 1"):
        verify_archive(file)


def test_an_archive_that_is_none_or_cut_off_is_told(cut: datetime, file: Path, actor: Actor, tmp_path: Path) -> None:
    archive(actor, cut, file)
    whole = file.read_bytes()
    lines = gzip.decompress(whole).decode().splitlines(keepends=True)
    for broken, words in (
        (b"", "is not an archive of Iris"),
        (b"no gzip", "is not a whole archive"),
        (whole[:-30], "is not a whole archive"),
        (gzip.compress("".join(lines[:-1]).encode()), "is cut off after seal 2"),
        (gzip.compress("".join([*lines, lines[-1]]).encode()), "holds more behind its end"),
        (whole[:-8] + bytes(8), "is not a whole archive"),
        (gzip.compress("".join(lines[:5]).encode()), "was removed"),
    ):
        file.write_bytes(broken)
        with pytest.raises((ArchiveError, Broken), match=words):
            verify_archive(file)
    with pytest.raises(ArchiveError, match="There is no file"):
        verify_archive(tmp_path / "none")


def test_an_archive_of_another_chain_is_told(cut: datetime, file: Path, actor: Actor, tamper: Tamper) -> None:
    archive(actor, cut, file)
    tamper("UPDATE scaling_seal SET hash = %s WHERE number = 2", "0" * 64)
    with pytest.raises(Broken, match="is not of this chain: seal 2 has another hash here"):
        verify_archive(file)


def test_an_archive_with_flipped_bytes_is_told_in_one_sentence(cut: datetime, file: Path, actor: Actor) -> None:
    archive(actor, cut, file)
    whole = file.read_bytes()
    for place in range(len(whole) // 4, len(whole) - 8, 9):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        with pytest.raises((ArchiveError, Broken)):
            verify_archive(file)


def test_an_archive_is_checked_and_recorded_under_the_lock_of_the_head(cut: datetime, file: Path, actor: Actor) -> None:
    """Else two at once, with different dates, are both recorded and the chain is broken."""
    with CaptureQueriesContext(connection) as asked:
        archive(actor, cut, file)
    texts = [one["sql"] for one in asked]
    told = next(n for n, sql in enumerate(texts) if sql.startswith("INSERT") and "archive_actions" in sql)
    begun = max(n for n in range(told) if texts[n].startswith(("SAVEPOINT", "BEGIN")))
    within = texts[begun + 1 : told]
    assert '"scaling_sealhead"' in within[0]
    assert connection.vendor == "sqlite" or "FOR UPDATE" in within[0]
    assert any("archive_actions" in sql for sql in within[1:]), "what was recorded is read again"


def test_of_two_archives_at_once_the_one_that_comes_later_with_less_is_refused(
    cut: datetime, file: Path, actor: Actor, frozen_clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one is whole and recorded, and its rows have left, while the first has still to be recorded."""
    frozen_clock.advance(3600)
    small, whole = file.with_name("less.jsonl.gz"), archiving._record

    def overtaken(*given: Any) -> None:
        monkeypatch.setattr(archiving, "_record", whole)
        archive(actor, frozen_clock(), file)
        whole(*given)

    monkeypatch.setattr(archiving, "_record", overtaken)
    with pytest.raises(ArchiveError, match="holds nothing that has not left already"):
        archive(actor, cut, small)
    assert verify().archived == 30


def test_what_left_is_told_by_all_archives_not_the_latest(cut: datetime, file: Path, actor: Actor) -> None:
    archive(actor, cut, file)
    first = Seal.objects.get(number=1)
    record(ARCHIVE_KIND, after={"through_id": first.through_id, "last_seal": 1})
    assert removed_through() == Seal.objects.get(number=2).through_id and verify().archived == 20


def test_a_place_that_cannot_be_written_is_told_and_nothing_leaves(cut: datetime, actor: Actor) -> None:
    with pytest.raises(ArchiveError, match="cannot be written"):
        archive(actor, cut, Path("/proc/none/old.gz"))
    assert Action.objects.count() == 30


def test_the_commands_say_what_was_done_and_verify_it(cut: datetime, file: Path) -> None:
    out = StringIO()
    call_command("archive_actions", "--before", cut.isoformat(), str(file), stdout=out)
    assert "holds 20 actions under 2 seals" in out.getvalue() and "20 left the table." in out.getvalue()
    call_command("verify_actions", "--archive", str(file), stdout=out)
    assert "20 of them have left into archives" in out.getvalue() and "is whole: 20 actions" in out.getvalue()
    assert Action.objects.get(kind="archive_actions").source == "shell"
    with pytest.raises(CommandError, match="expected a time in the past"):
        call_command("archive_actions", "--before", "2999-01-01", str(file))
    with pytest.raises(CommandError, match="expected a date such as 2026-01-31"):
        call_command("archive_actions", "--before", "then", str(file))
