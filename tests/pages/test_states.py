"""Every state of the documents has a word, a tone and a shape that exists."""

import re
from pathlib import Path

import pytest

from iris_web.pages import states
from iris_web.pages.action_rows import SHAPES, action_row
from scaling.autoscaler.words import ActionKind, HintCode, MarkerKind, Outcome, SliceState
from scaling.models import Action, Job, Worker
from scaling.operations.acts import ActKind

ROOT = Path(__file__).resolve().parents[2]
SPRITE = (ROOT / "templates/partials/sprite.html").read_text()
STYLE = (ROOT / "static/css/tokens.css").read_text()


@pytest.mark.parametrize(
    ("kind", "codes"),
    [
        ("group", [outcome.value for outcome in Outcome]),
        ("slice", [state.value for state in SliceState]),
        ("worker", Worker.State.values),
        ("job", Job.State.values),
        ("hint", [code.value for code in HintCode]),
        ("marker", [kind.value for kind in MarkerKind]),
        ("action", ["ok", "failed", "refused", "observed"]),
    ],
)
def test_every_state_has_a_look(kind: str, codes: list[str]) -> None:
    assert set(codes) <= set(states.KINDS[kind])


def test_two_states_of_a_kind_never_differ_by_colour_alone() -> None:
    for kind, looks in states.KINDS.items():
        seen: dict[str, str] = {}
        for code, look in looks.items():
            assert seen.setdefault(look.word, code) == code, (kind, code)


@pytest.mark.parametrize("shape", sorted({look.shape for looks in states.KINDS.values() for look in looks.values()}))
def test_every_shape_is_in_the_sprite(shape: str) -> None:
    assert f'id="i-{shape}"' in SPRITE


@pytest.mark.parametrize("tone", list(states.Tone))
def test_every_tone_is_in_the_stylesheet(tone: states.Tone) -> None:
    assert f".tone-{tone} {{" in STYLE


def test_every_icon_that_templates_name_is_in_the_sprite() -> None:
    used = set(SHAPES.values())
    for template in (ROOT / "templates").rglob("*.html"):
        used |= set(re.findall(r'{% icon "([a-z]+)"', template.read_text()))
    assert [shape for shape in sorted(used) if f'id="i-{shape}"' not in SPRITE] == []


def test_every_kind_of_action_has_a_shape_of_its_own_choice() -> None:
    assert [kind for kind in [*ActionKind, *ActKind] if kind.value not in SHAPES] == []


def test_every_check_of_the_filter_chain_says_what_passing_means() -> None:
    assert set(states.PASSED) == {outcome.value for outcome in Outcome} - {"AVAILABLE"}


def test_a_state_nobody_knows_is_shown_as_its_word() -> None:
    look = states.look("group", "SOMETHING_NEW")
    assert (look.word, look.shape) == ("something new", "ring")


def test_trouble_is_toned_as_trouble() -> None:
    assert action_row(Action(kind="scale_up", outcome="failed")).tone == "bad"
    assert action_row(Action(kind="drain", outcome="refused")).tone == "warn"
    assert action_row(Action(kind="create_failed")).tone == "warn"
    assert action_row(Action(kind="slice_ready")).tone == "good"
    assert action_row(Action(kind="scale_up", outcome="observed")).tone == "calm"
    assert action_row(Action(kind="drain", actor_kind="user")).tone == "held"
