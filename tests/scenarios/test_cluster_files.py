"""Section 9: what a scenario file may say, and how a bad one is told."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from scaling.scenarios.cluster_reading import parse_cluster_scenario
from scaling.scenarios.fields import BadScenario
from tests.autoscaler.cluster import job, marker, play, ready, tpu
from tests.services.inputs import CASES, published

ROOT = Path(__file__).resolve().parents[2]
GOOD = (
    "groups: [{name: t, device_type: tpu, device_variant: v5-8, max_slices: 3}]\njobs: [{id: a, resources: {tpu: 2}}]\n"
)


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    call_command("plan_cluster", *arguments)
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as exit_:
        call_command("plan_cluster", *arguments, "--json")
    assert exit_.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.strip().splitlines()
    return line


# -- good files


def test_json_and_yaml_say_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = {
        "groups": [{"name": "t", "device_type": "tpu", "device_variant": "v5-8", "max_slices": 3}],
        "jobs": [{"id": "a", "resources": {"tpu": 2}}],
    }
    as_json = run(capsys, written(tmp_path, "a.json", json.dumps(plain)), "--json")

    assert as_json == run(capsys, written(tmp_path, "a.yaml", GOOD), "--json")
    assert json.loads(as_json)["cycles"][0]["groups"]["t"]["scale_up"] == 2


def test_several_files_and_documents_are_one_line_each_in_their_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = written(tmp_path, "one.yaml", GOOD)
    two = written(tmp_path, "two.yaml", f"{GOOD}---\n{GOOD.replace('tpu: 2', 'tpu: 3')}")
    lines = run(capsys, one, two, "--json").splitlines()

    assert [json.loads(line)["cycles"][0]["groups"]["t"]["scale_up"] for line in lines] == [2, 2, 3]


def test_the_output_is_the_same_bytes_every_time(tmp_path: Path) -> None:
    path = written(tmp_path, "a.yaml", f"{GOOD}run: {{cycles: 5, every: 20}}\n")
    command = [sys.executable, "manage.py", "plan_cluster", path, "--json"]
    outputs = {
        subprocess.run(
            command, cwd=ROOT, check=True, capture_output=True, env=os.environ | {"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }

    assert len(outputs) == 1


def test_timing_adds_the_plan_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "a.yaml", GOOD)

    (cycle,) = json.loads(run(capsys, path, "--json", "--timing"))["cycles"]
    assert 0 < cycle["plan_seconds"] < 5
    assert "plan_seconds" not in json.loads(run(capsys, path, "--json"))["cycles"][0]


def test_without_json_it_is_told_to_a_person(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, written(tmp_path, "a.yaml", GOOD), "--timing")

    assert "cycle at 0 s: ok" in told
    assert "t: AVAILABLE, assigned 2, deficit 2, up 2" in told
    assert "job a: scaling_up: 2 slices requested in t" in told


def test_a_scenario_of_nothing_runs() -> None:
    assert play().output["cycles"][0]["groups"] == {}


def test_groups_may_be_a_mapping_and_numbers_may_be_names() -> None:
    played = play(groups={"t": {"max_slices": 3}, "u": None}, jobs=[{"id": 7, "resources": {"cpu": 1}}])

    assert played.up("t") == 1
    assert played.job("7")["pending"] == 1


def test_iso_times_are_put_on_the_scenarios_axis() -> None:
    played = play(
        groups=[tpu("t"), tpu("u")],
        slices=[
            {"id": "s", "group": "t", "state": "READY", "created": "2026-01-01T08:00:00Z"}
            | {"idle_since": "2026-01-01T09:54:59+00:00"}
        ],
        markers=[
            marker("u", "stockout", since=0, until=0) | {"since": "2026-01-01T10:00:00", "until": "2026-01-01T10:15:00"}
        ],
        run={"start": "2026-01-01T10:00:00Z"},
    )

    assert played.down("t") == ["s"]
    assert played.group("u")["stockout_until"] == 900


def test_without_a_start_iso_times_begin_with_what_was_last_there() -> None:
    played = play(
        groups=[tpu("t")],
        slices=[ready("s", "t") | {"created": "2026-01-01T08:00:00Z", "idle_since": "2026-01-01T09:51:00Z"}],
        jobs=[job("j", submitted="2026-01-01T09:55:00Z", constraints=["nowhere"])],
    )

    assert played.slices["s"]["idle_since"] == -240


def test_a_bad_job_is_a_hint_and_no_bad_file() -> None:
    bad = [
        {"id": "a", "tasks": -1},
        {"id": "b", "resources": "many"},
        {"id": "c", "run_seconds": "long"},
        {"id": "d", "submitted": "soon"},
        {"id": "e", "tier": "gold"},
        {"id": "f", "priority": [1]},
        {"id": "g", "constraints": [[1]]},
    ]
    played = play(groups=[tpu("t")], jobs=[*bad, job("good")])

    assert {name for name, hint in played.hints().items() if hint["code"] == "invalid_request"} == set("abcdefg")
    assert played.up("t") == 1


def test_words_are_read_in_any_case_with_dashes_or_underscores() -> None:
    played = play(
        groups=[tpu("t", capacity_type="On-Demand")],
        slices=[ready("r", "t", state="ready")],
        markers=[marker("t", "Stockout")],
    )

    assert played.outcome("t") == "STOCKOUT"
    assert played.slices["r"]["state"] == "READY"


def test_what_a_run_ends_with_may_be_what_the_next_begins_with() -> None:
    groups = [tpu("t", max_slices=3)]
    first = play(
        groups=groups,
        jobs=[job("j", 3)],
        markers=[marker("t", "stockout")],
        slices=[ready("r", "t")],
        events=[{"at": 0, "acknowledge_marker": "t"}],
    )
    final = first.output["final"]
    second = play(groups=groups, slices=final["slices"], markers=final["markers"])

    assert second.output["final"]["markers"] == final["markers"]
    assert second.slices == first.slices


def test_the_published_cases_hold() -> None:
    command = [sys.executable, str(published(CASES / "run_cases.py")), "--cmd", f"{sys.executable} manage.py"]
    done = subprocess.run([*command, str(CASES / "cluster_public.yaml")], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout[-2000:]


# -- bad files


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("groups: [", "expected YAML"),
        ("- a\n- b\n", "expected a mapping with groups and jobs, got a list"),
        ("groups: [{name: t}]\ngrups: []\n", "grups: expected groups, this key is unknown"),
        ("groups: 7\n", "groups: expected a list, got 7"),
        ("groups: [{max_slices: 3}]\n", "groups[0].name: expected a name"),
        ("groups: [{name: t, max_slice: 3}]\n", "groups[0].max_slice: expected max_slices"),
        ("groups: [{name: t, max_slices: lots}]\n", "groups[0].max_slices: expected a whole number"),
        ("groups: {t: {max_slices: -1}}\n", "groups.t.max_slices: expected a whole number"),
        ("groups: {t: {name: u}}\n", "groups.t.name: expected t, as it is called above, got 'u'"),
        ("groups: [{name: t}, {name: t}]\n", "groups[1]: expected each name once, 't' is there twice"),
        ("groups: [{name: t, quota_pool: p}]\n", "groups[0].quota_pool: expected the name of a quota pool"),
        ("quota_pools: [{name: p}, {name: p}]\n", "quota_pools[1]: expected each name once"),
        ("quota_pools: [{name: p, limit: -1}]\n", "quota_pools[0].limit: expected a whole number"),
        (f"{GOOD}slices: [{{id: s, group: x}}]\n", "slices[0].group: expected the name of a group"),
        (f"{GOOD}slices: [{{group: t}}]\n", "slices[0].id: expected a name"),
        (f"{GOOD}slices: [{{id: s, group: t, state: IDLE}}]\n", "slices[0].state: expected one of REQUESTING"),
        (f"{GOOD}slices: [{{id: s, group: t}}, {{id: s, group: t}}]\n", "slices[1]: expected each name once"),
        (f"{GOOD}slices: [{{id: s, group: t, created: soon}}]\n", "slices[0].created: expected seconds"),
        (f"{GOOD}slices: [{{id: s, group: t, active_tasks: -1}}]\n", "slices[0].active_tasks: expected a whole"),
        (f"{GOOD}markers: [{{group: x, kind: stockout}}]\n", "markers[0].group: expected the name of a group"),
        (f"{GOOD}markers: [{{group: t, kind: sad}}]\n", "markers[0].kind: expected one of stockout"),
        (f"{GOOD}markers: [{{group: t}}]\n", "markers[0].kind: expected one of stockout"),
        (
            f"{GOOD}markers: [{{group: t, kind: quota}}, {{group: t, kind: quota}}]\n",
            "markers[1]: expected one quota marker per group",
        ),
        ("jobs: [{tasks: 3}]\n", "jobs[0].id: expected a name"),
        ("jobs: [{id: a, task: 3}]\n", "jobs[0].task: expected tasks, this key is unknown"),
        ("jobs: {a: 1}\n", "jobs: expected a list"),
        (f"{GOOD}cloud: {{boot_second: 3}}\n", "cloud.boot_second: expected boot_seconds"),
        (f"{GOOD}cloud: {{boot_seconds: -1}}\n", "cloud.boot_seconds: expected a number of at least 0"),
        (f"{GOOD}cloud: {{fail: [{{group: t}}]}}\n", "cloud.fail[0].error: expected the platform's words"),
        (f"{GOOD}cloud: {{fail: [{{group: x, error: e}}]}}\n", "cloud.fail[0].group: expected the name of a group"),
        (f"{GOOD}run: {{cycles: 0}}\n", "run.cycles: expected a whole number of at least 1"),
        (f"{GOOD}run: {{every: 0}}\n", "run.every: expected a number above 0"),
        (f"{GOOD}events: [{{at: 1}}]\n", "events[0]: expected exactly one of set_group"),
        (f"{GOOD}events: [{{drain_group: t}}]\n", "events[0].at: expected a time"),
        (f"{GOOD}events: [{{at: 1, drain_group: x}}]\n", "events[0].drain_group: expected the name of a group"),
        (f"{GOOD}events: [{{at: 1, job_done: x}}]\n", "events[0].job_done: expected the name of a job"),
        (f"{GOOD}events: [{{at: 1, lose_worker: x}}]\n", "events[0].lose_worker: expected the name of a slice"),
        (f"{GOOD}events: [{{at: 1, drain_group: t, colour: 3}}]\n", "events[0].colour: expected"),
        (f"{GOOD}events: [{{at: 1, drain_group: t, undrain_group: t}}]\n", "events[0]: expected exactly one of"),
        (f"{GOOD}events: [{{at: 1, set_group: t, max_slices: x}}]\n", "events[0].max_slices: expected a whole"),
        (f"{GOOD}events: [{{at: 1, set_group: t, quota_pool: x}}]\n", "events[0].quota_pool: expected the name"),
        (
            f"{GOOD}events: [{{at: 1, platform_list_error: e, platform: gcp}}]\n",
            "events[0].platform: expected the name of a platform in use",
        ),
        ("", "expected a scenario, the file is empty"),
        ("groups: []\ngroups: []\n", "expected each key once"),
    ],
)
def test_a_bad_file_is_one_line_with_the_place_and_what_was_expected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    path = written(tmp_path, "bad.yaml", text)
    line = refused(capsys, path)

    assert line.startswith(f"{path}: ")
    assert words in line


def test_nothing_is_printed_when_a_later_file_is_bad(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = written(tmp_path, "good.yaml", GOOD)

    assert "bad.json" in refused(capsys, good, written(tmp_path, "bad.json", "{"))
    assert "missing.yaml" in refused(capsys, good, str(tmp_path / "missing.yaml"))


def test_the_place_in_a_file_of_several_documents_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(capsys, written(tmp_path, "many.yaml", f"{GOOD}---\nrun: {{cycles: -1}}\n"))

    assert "document 2: run.cycles" in line


def test_a_file_is_never_executed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(capsys, written(tmp_path, "evil.yaml", "groups: !!python/object/apply:os.system [echo]\n"))

    assert "expected YAML" in line


def test_a_place_is_told_without_a_file_as_well() -> None:
    bad: Any = {"groups": [{"name": "t", "zone": 7}]}

    with pytest.raises(BadScenario, match=r"groups\[0\].zone: expected a text"):
        parse_cluster_scenario(bad)
