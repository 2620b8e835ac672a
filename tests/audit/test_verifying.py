"""Whatever is done to the sealed history, the first broken row is named in one sentence."""

import re
from datetime import datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from scaling.audit import sealing
from scaling.audit.chain import make_seal
from scaling.audit.verifying import Broken, verify
from scaling.models import Action, Seal, SealHead
from tests.audit.conftest import Tamper, unguarded, write, write_after_a_hole

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows(now: datetime) -> list[Action]:
    """Thirty actions under three seals, with a hole in their ids between the second and the third seal."""
    write(20)
    write_after_a_hole(10, now)
    sealing.seal_new(now, batch_rows=10)
    assert Seal.objects.count() == 3
    return list(Action.objects.order_by("id"))


def broken() -> str:
    with pytest.raises(Broken) as told:
        verify()
    assert str(told.value).endswith(".") and "\n" not in str(told.value)
    return str(told.value)


def test_an_untouched_history_verifies_with_its_counts(rows: list[Action]) -> None:
    write(2)
    report = verify()
    assert (report.seals, report.actions, report.unsealed) == (3, 30, 2)
    assert report.head == Seal.objects.get(number=3).hash


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("reason", "nothing"), ("actor", "eve"), ("kind", "undrain"), ("outcome", "failed"), ("at", "2020-01-01 00:00"),
        ("after", '{"ready": 7}'), ("before", None), ("cycle", 99), ("cause_id", 1), ('"group"', "g-9"),
        ("source", "page"), ("actor_kind", "user"), ("target", "t"), ("job", "j"), ("slice", "s"),
    ],
)  # fmt: skip
def test_a_change_of_any_column_is_found(rows: list[Action], tamper: Tamper, column: str, value: object) -> None:
    tamper(f"UPDATE scaling_action SET {column} = %s WHERE id = %s", value, rows[7].pk)
    tamper("UPDATE scaling_action SET reason = 'too' WHERE id = %s", rows[22].pk)
    assert re.match(
        rf"Action {rows[7].pk} \(.*\) was changed after it was sealed by seal 1 at 2026-01-01T12:", broken()
    )


def test_a_removed_action_is_named(rows: list[Action], tamper: Tamper) -> None:
    tamper("DELETE FROM scaling_action WHERE id = %s", rows[12].pk)
    assert f"Action {rows[12].pk} was removed: it was sealed by seal 2" in broken()


def test_a_cut_off_end_of_the_history_is_named(rows: list[Action], tamper: Tamper) -> None:
    tamper("DELETE FROM scaling_action WHERE id >= %s", rows[25].pk)
    assert f"Action {rows[25].pk} was removed" in broken()


def test_an_action_inserted_between_others_is_named(rows: list[Action], now: datetime) -> None:
    Action(pk=rows[19].pk + 2, at=now, kind="undrain").save(force_insert=True)
    assert f"Action {rows[19].pk + 2} (undrain) was inserted between others: seal 3" in broken()


def test_an_exchange_of_two_actions_names_the_first(rows: list[Action], tamper: Tamper) -> None:
    first, second = rows[3].pk, rows[5].pk
    for old, new in ((first, -1), (second, first), (-1, second)):
        tamper("UPDATE scaling_action SET id = %s WHERE id = %s", new, old)
    assert f"Action {first} (" in broken()


@pytest.mark.parametrize("column", ["at", "through_id", "entries", "hash", "actions"])
def test_an_altered_seal_is_named(rows: list[Action], tamper: Tamper, column: str) -> None:
    other: object = {"at": "2020-01-01 00:00", "entries": b"x" * 400, "hash": "0" * 64}.get(column, 3)
    tamper(f"UPDATE scaling_seal SET {column} = %s WHERE number = 2", other)
    assert broken().startswith("Seal 2 of 20")


def test_a_removed_seal_is_named(rows: list[Action], tamper: Tamper) -> None:
    tamper("DELETE FROM scaling_seal WHERE number = 2")
    assert broken() == "Seal 2 is missing: after seal 1 comes seal 3."


def test_a_cut_off_chain_is_named(rows: list[Action], tamper: Tamper) -> None:
    tamper("DELETE FROM scaling_seal WHERE number > 1")
    assert broken() == "Seal 2 is missing: the chain ends with seal 1, and 3 were made."


def test_reordered_seals_are_named(rows: list[Action], tamper: Tamper) -> None:
    for old, new in ((2, 9), (3, 2), (9, 3)):
        tamper("UPDATE scaling_seal SET number = %s WHERE number = %s", new, old)
    assert broken().startswith("Seal 2 of 20")


def test_a_seal_made_anew_over_changed_rows_does_not_fit_the_next_one(rows: list[Action], now: datetime) -> None:
    second = Seal.objects.get(number=2)
    forged = make_seal(2, now, second.form, second.after_id, second.through_id, [], second.previous)
    with unguarded():
        forged.save(force_update=True)
    assert f"Action {second.after_id + 1} (scale_up) was inserted" in broken()


def test_a_head_that_is_not_the_last_seal_is_told(rows: list[Action]) -> None:
    SealHead.objects.update(number=2)
    assert "The head of the chain was altered" in broken()
    SealHead.objects.all().delete()
    assert "The head of the chain was altered" in broken()


def test_a_chain_made_anew_lacks_the_head_that_was_kept_elsewhere(
    rows: list[Action], tamper: Tamper, now: datetime
) -> None:
    kept = Seal.objects.get(number=2).hash
    assert verify(kept).seals == verify(kept[:8]).seals == 3
    for typo in ("zz", kept[:7], f"{kept}0", f"{kept[:-1]}g"):
        with pytest.raises(CommandError, match="--head: expected the 64 hexadecimal digits of a seal, or its first 8"):
            call_command("verify_actions", head=typo)
    tamper("DELETE FROM scaling_seal")
    tamper("UPDATE scaling_action SET actor = 'eve' WHERE id = %s", rows[0].pk)
    SealHead.objects.all().delete()
    sealing.seal_new(now)
    verify()
    with pytest.raises(Broken, match=f"No seal has the hash {kept}"):
        verify(kept)


def test_the_command_says_counts_or_the_broken_row(rows: list[Action], tamper: Tamper) -> None:
    out = StringIO()
    call_command("verify_actions", stdout=out)
    assert (
        "as it was sealed: 3 seals over 30 actions" in out.getvalue()
        and Seal.objects.get(number=3).hash in out.getvalue()
    )
    tamper("DELETE FROM scaling_action WHERE id = %s", rows[0].pk)
    with pytest.raises(CommandError, match=f"Action {rows[0].pk} was removed") as refused:
        call_command("verify_actions")
    assert refused.value.returncode == 1


def test_before_the_first_seal_the_command_says_so() -> None:
    out = StringIO()
    write(2)
    call_command("verify_actions", stdout=out)
    assert "Nothing is sealed yet; 2 actions wait" in out.getvalue()
