"""`manage.py status`, `drain`, `undrain`, `pause`, `resume`, `acknowledge`."""

import getpass
import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from scaling import tokens
from scaling.clock import FrozenClock
from scaling.models import ActorKind, Group, Marker, Slice, Source
from scaling.testing.builders import (
    make_cycle,
    make_group,
    make_hint,
    make_installation,
    make_job,
    make_loop,
    make_marker,
    make_slice,
    make_status,
)
from tests.operations.support import last_action, nothing_happened

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def group(frozen_clock: FrozenClock) -> Group:
    group = make_group("g")
    make_slice(group, frozen_clock(), name="s1")
    return group


def _run(command: str, *words: str) -> str:
    out = StringIO()
    call_command(command, *words, stdout=out)
    return out.getvalue().strip()


def test_a_group_is_drained_in_the_name_of_the_systems_user(frozen_clock: FrozenClock) -> None:
    told = _run("drain", "g", "--reason", "rack move", "--deadline", "2026-01-01T13:00:00")
    assert told == "group g drains: 1 slice is left and goes as it falls idle; take it back with undrain"
    assert Group.objects.get(name="g").drain_deadline == frozen_clock() + timedelta(hours=1)
    action = last_action()
    assert (action.actor_kind, action.actor, action.source) == (ActorKind.USER, getpass.getuser(), Source.SHELL)
    assert action.reason == "rack move"
    assert _run("undrain", "g") == "group g serves again and may grow"


def test_a_slice_is_drained_by_its_name() -> None:
    assert _run("drain", "s1", "--reason", "bad disk") == "slice s1 drains: it goes when it is idle"
    assert Slice.objects.get(name="s1").drain_reason == "bad disk"
    assert _run("undrain", "s1") == "slice s1 serves again"
    with pytest.raises(CommandError, match="--deadline: only a whole group has one"):
        _run("drain", "s1", "--deadline", "2026-01-02")


def test_a_group_is_paused_and_resumed() -> None:
    assert _run("pause", "g", "--until", "2026-01-01T13:00:00Z") == "group g is paused until 2026-01-01 13:00:00Z"
    assert _run("resume", "g") == "group g may grow again"
    assert _run("pause", "g", "--until", "1767272400") == "group g is paused until 2026-01-01 13:00:00Z"


@pytest.mark.parametrize(
    ("command", "words", "sentence"),
    [
        ("drain", ["gg"], r'there is no group or slice "gg"; did you mean "g"\?'),
        ("pause", ["gg"], r'there is no group or deployment "gg"; did you mean "g"\?'),
        ("clear_marker", ["²"], "² is neither the number of a marker nor a group with an open one"),
        ("undrain", ["g"], "group g is not draining"),
        ("resume", ["g"], "group g is not paused"),
        ("pause", ["g", "--until", "soon"], 'until: expected a time such as .* got "soon"'),
        ("acknowledge", ["77", "--note", "x"], "there is no marker 77"),
        ("acknowledge", ["g", "--note", "x"], "g is neither the number of a marker nor a group with an open one"),
    ],
)
def test_a_refusal_is_one_sentence(command: str, words: list[str], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        _run(command, *words)
    assert nothing_happened()


def test_a_marker_is_acknowledged_by_number_or_by_its_group(group: Group, frozen_clock: FrozenClock) -> None:
    marker = make_marker(group, frozen_clock())
    _run("acknowledge", str(marker.pk), "--note", "vendor knows")
    told = _run("acknowledge", "g", "--note", "vendor works on it", "--until", "2026-01-02")
    assert told == f"marker {marker.pk} (stockout on g) is acknowledged by {getpass.getuser()}"
    assert Marker.objects.get(pk=marker.pk).acknowledged_note == "vendor works on it"
    other = make_marker(group, frozen_clock(), "quota")
    with pytest.raises(CommandError, match=rf"several open markers: give one of {marker.pk} \(stockout\), {other.pk}"):
        _run("acknowledge", "g", "--note", "x")


def test_an_acknowledgement_needs_its_note(group: Group, frozen_clock: FrozenClock) -> None:
    make_marker(group, frozen_clock())
    with pytest.raises(CommandError, match="--note"):
        _run("acknowledge", "g")
    with pytest.raises(CommandError, match="note: expected some text"):
        _run("acknowledge", "g", "--note", " ")


def test_the_status_answers_one_question_a_line(group: Group, frozen_clock: FrozenClock) -> None:
    make_installation(halted_since=frozen_clock(), halted_by="ada", halted_reason="bill")
    make_status(group, frozen_clock(), "STOCKOUT")
    make_marker(group, frozen_clock())
    make_hint(make_job(frozen_clock(), tasks=3), frozen_clock())
    make_cycle(frozen_clock(), duration_ms=120)
    make_loop("autoscaler", frozen_clock())
    lines = _run("status").splitlines()
    told = {line.split()[0]: line for line in lines}
    assert "by ada: bill" in told["HALTED"]
    assert told["groups"].endswith("1 (1 STOCKOUT), 0 draining, 0 paused")
    assert told["slices"].endswith("1 READY")
    assert told["jobs"].endswith("1 pending; 3 tasks wait, the oldest for 60 s")
    assert told["markers"].endswith("1 stockout; 1 not acknowledged")
    assert "ok, 0 s ago, took 120 ms" in told["cycle"]
    assert {"platform", "loop", "hints"} <= set(told)


def test_the_status_of_an_empty_installation_is_told_too() -> None:
    Slice.objects.all().delete()
    Group.objects.all().delete()
    assert "cycle      none yet" in _run("status")


def test_the_status_as_json_is_the_apis(frozen_clock: FrozenClock) -> None:
    told = json.loads(_run("status", "--json"))
    assert (told["at"], told["slices"]) == (frozen_clock().isoformat(), {"READY": 1})


def test_a_token_made_in_a_shell_is_printed_alone(frozen_clock: FrozenClock) -> None:
    secret = _run("create_token", "ci", "--role", "scheduler", "--scope", "slurm", "--expires", "2026-02-01")
    found = tokens.verify(secret, frozen_clock())
    assert found is not None
    assert (found.name, found.role, found.scope) == ("ci", "scheduler", "slurm")
    with pytest.raises(CommandError, match="scope: expected the worker that this worker token is confined to"):
        _run("create_token", "w", "--role", "worker")
