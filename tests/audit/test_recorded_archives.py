"""The record of an archive lets rows be gone and proves nothing of them: only the files show that they were kept."""

from datetime import datetime
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from scaling.audit import sealing
from scaling.audit.archives import ARCHIVE_KIND
from scaling.audit.archiving import archive
from scaling.audit.verifying import Broken, verify
from scaling.clock import FrozenClock
from scaling.history import Actor, record
from scaling.models import Action, Seal
from tests.audit.conftest import Tamper

pytestmark = pytest.mark.django_db


@pytest.fixture
def forged(cut: datetime, actor: Actor, tamper: Tamper) -> list[Action]:
    """Thirty sealed actions, and the record of an archive of the first twenty that nobody made."""
    last = Seal.objects.get(number=2)
    record(ARCHIVE_KIND, after={"through_id": last.through_id, "last_seal": last.number, "file": "x"})
    return list(Action.objects.order_by("id")[:30])


def test_a_row_removed_from_the_middle_is_found_though_an_archive_is_recorded(
    forged: list[Action], tamper: Tamper
) -> None:
    tamper("DELETE FROM scaling_action WHERE id = %s", forged[4].pk)
    with pytest.raises(Broken, match=f"Action {forged[4].pk} was removed"):
        verify()
    tamper("DELETE FROM scaling_action WHERE id <= %s", forged[2].pk)
    with pytest.raises(Broken, match=f"Action {forged[4].pk} was removed"):
        verify()


@pytest.mark.parametrize("told", [{"through_id": 7, "last_seal": 1}, {"through_id": "x"}, {"last_seal": 2}, None])
def test_a_record_of_an_archive_that_ends_with_no_seal_is_told(cut: datetime, told: dict[str, object] | None) -> None:
    record(ARCHIVE_KIND, after=told and {**told, "through_id": told.get("through_id", 10**40)})
    with pytest.raises(Broken, match=r"Action \d+ \(archive_actions\) tells of no archive of Iris"):
        verify()


def test_removed_rows_that_no_file_shows_end_with_a_code_of_their_own(
    forged: list[Action], tamper: Tamper, file: Path, cut: datetime, actor: Actor
) -> None:
    tamper("DELETE FROM scaling_action WHERE id <= %s", forged[7].pk)
    out = StringIO()
    with pytest.raises(CommandError, match=f"Actions up to {forged[7].pk} are not in the table") as refused:
        call_command("verify_actions", stdout=out)
    assert refused.value.returncode == 3
    assert f"8 of them have left into archives, the oldest, up to action {forged[7].pk}." in out.getvalue()
    assert "Archive recorded by action" in out.getvalue() and "(seal 2)" in out.getvalue()
    call_command("verify_actions", "--archives-elsewhere", stdout=out)


def test_every_archive_must_be_given_for_the_history_to_be_shown(
    cut: datetime, file: Path, actor: Actor, frozen_clock: FrozenClock
) -> None:
    archive(actor, cut, file)
    frozen_clock.advance(3600)
    sealing.seal_new(frozen_clock())
    second = file.with_name("next.jsonl.gz")
    archive(actor, frozen_clock(), second)
    for given, words in (((file,), r"Actions after \d+ up to"), ((second,), "Actions up to")):
        with pytest.raises(CommandError, match=words) as refused:
            call_command("verify_actions", "--archive", *map(str, given), stdout=StringIO())
        assert refused.value.returncode == 3
    call_command("verify_actions", "--archive", str(second), "--archive", str(file), stdout=StringIO())
