"""Acts from a shell that change fields, and those on deployments: said in one line, refused in one sentence."""

import pytest
from django.core.management import CommandError

from scaling.clock import FrozenClock
from scaling.models import Group
from scaling.testing import builders
from scaling.testing.sample_deployments import make_deployment
from tests.operations.support import nothing_happened
from tests.operations.test_shell_acts import _run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def group(frozen_clock: FrozenClock) -> Group:
    make_deployment("chat", frozen_clock())
    return builders.make_group("g", price_per_slice_hour="2")


def test_fields_are_written_as_on_the_pages(group: Group) -> None:
    assert _run("set_limits", "g", "max_slices=12", "price_per_slice_hour=") == (
        "group g is changed: max_slices=12, price_per_slice_hour="
    )
    group.refresh_from_db()
    assert (group.max_slices, group.price_per_slice_hour) == (12, None)
    _run("set_limits", "g", 'attributes={"rack": "a4"}')
    group.refresh_from_db()
    assert group.attributes == {"rack": "a4"}


def test_a_deployment_is_paused_with_a_direction() -> None:
    told = _run("pause", "chat", "--direction", "down", "--until", "2026-01-01T13:00:00Z")
    assert told == "deployment chat is paused (down) until 2026-01-01 13:00:00Z"
    assert _run("resume", "chat") == "deployment chat may scale again"


def test_a_name_of_both_is_refused_until_it_is_said_which(group: Group, frozen_clock: FrozenClock) -> None:
    make_deployment("g", frozen_clock())
    for command in ("pause", "resume"):
        with pytest.raises(CommandError, match="a group and a deployment are named g: say which, --group or --deploy"):
            _run(command, "g")
    assert nothing_happened()
    assert _run("pause", "g", "--deployment", "--direction", "up").startswith("deployment g is paused (up)")
    group.refresh_from_db()
    assert group.pause_since is None
    assert _run("pause", "g", "--group").startswith("group g is paused")
    assert _run("resume", "--deployment", "g") == "deployment g may scale again"
    assert _run("resume", "--group", "g") == "group g may grow again"
    with pytest.raises(CommandError, match='there is no deployment "gg"'):
        _run("pause", "gg", "--deployment")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["set_limits", "g", "max_slices=many"], 'max_slices: expected a whole number of at least 0, got "many"'),
        (["set_limits", "g", "max_slice=3"], 'max_slice: unknown field; did you mean "max_slices"?'),
        (["set_limits", "g", "max_slices"], 'expected FIELD=VALUE, got "max_slices"'),
        (["set_limits", "gg", "max_slices=3"], 'there is no group "gg"; did you mean "g"?'),
        (["set_quota", "p", "limit=3"], 'there is no quota pool "p"'),
        (["set_targets", "chat", "min_replicas=40"], "min_replicas: expected at most max_replicas (10), got 40"),
        (["set_mode", "simulated", "on"], "mode: expected one of observe, act"),
        (["pause", "g", "--direction", "up"], "--direction: only a deployment has one"),
        (["pause", "nobody"], 'there is no group or deployment "nobody"'),
        (["scale", "chat", "40"], "replicas: expected between the minimum of 1 and the maximum of 10"),
        (["unhalt"], "this installation is not set up yet"),
        (["clear_marker", "g"], "g is neither the number of a marker nor a group with an open one"),
        (["forget_absent"], "the Gateway lists every deployment that is known"),
    ],
)
def test_a_refusal_is_one_sentence(words: list[str], sentence: str) -> None:
    with pytest.raises(CommandError) as refused:
        _run(*words)
    assert sentence in str(refused.value) and "\n" not in str(refused.value)
    assert nothing_happened()
