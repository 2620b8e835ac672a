"""`manage.py plan_replicas`: files in, one object per line or a table out; a bad file is one line and exit 2."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

ROOT = Path(__file__).resolve().parents[2]

ONE = "deployment: {id: d1, min_replicas: 2, target_rps: 5}\nreplicas: {healthy: 1}\nmetrics: {rps: 5}\n"
TWO = f"{ONE}---\n{ONE.replace('healthy: 1', 'healthy: 3')}---\n"


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("plan_replicas", *arguments, stdout=out)
    return out.getvalue()


def refused(*arguments: str) -> str:
    err, out = io.StringIO(), io.StringIO()
    with pytest.raises(SystemExit) as stopped:
        call_command("plan_replicas", *arguments, stdout=out, stderr=err)
    assert stopped.value.code == 2
    assert out.getvalue() == ""
    lines = err.getvalue().splitlines()
    assert len(lines) == 1
    return lines[0]


def test_every_document_of_every_file_is_one_line_in_order(tmp_path: Path) -> None:
    two, one = written(tmp_path, "two.yaml", TWO), written(tmp_path, "one.yaml", ONE)
    lines = [json.loads(line) for line in run(two, one, "--json").splitlines()]
    assert [line["ticks"][0]["counts"]["healthy"] for line in lines] == [1, 3, 1]


def test_json_files_work_too(tmp_path: Path) -> None:
    scenario = {"deployment": {"id": "d1"}, "replicas": {"healthy": 2}, "metrics": {"p95_latency_ms": float("nan")}}
    path = written(tmp_path, "one.json", json.dumps(scenario))
    assert json.loads(run(path, "--json"))["ticks"][0]["counts"]["healthy"] == 2


def test_json_in_a_yaml_file_works_too(tmp_path: Path) -> None:
    path = written(tmp_path, "one.yaml", json.dumps({"deployment": {"id": "d1"}, "replicas": []}, indent=2))
    assert json.loads(run(path, "--json"))["ticks"][0]["add"] == 1


def test_the_output_is_the_same_bytes_every_time(tmp_path: Path) -> None:
    path = written(tmp_path, "two.yaml", TWO)
    assert run(path, "--json") == run(path, "--json")
    assert run(path) == run(path)


def test_without_json_it_is_a_table_for_people(tmp_path: Path) -> None:
    shown = run(written(tmp_path, "two.yaml", TWO)).splitlines()
    assert shown[0] == "d1: 2 to 10 replicas"
    assert " ".join(shown[1].split()) == "at gate H W U F ratio desired window add stop why"
    assert "below the minimum of 2" in shown[2]
    assert shown[3].startswith("at the end: 1 healthy, 1 warming")
    assert shown[4] == ""
    assert shown[5] == "d1: 2 to 10 replicas"


def test_the_table_tells_refused_calls_missing_answers_and_settings_that_cannot_hold(tmp_path: Path) -> None:
    text = "deployment: {min_replicas: 3, max_replicas: 2}\nreplicas: []\nticks: 3\n"
    text += "timeline: [{at: 0, gateway: error}, {at: 5, gateway: timeout}]\n"
    shown = run(written(tmp_path, "one.yaml", text))
    assert "(refused)" in shown
    assert "(no answer)" in shown
    assert "note: The minimum of 3 is above the maximum of 2" in shown
    assert "at the end: unknown" in run(written(tmp_path, "u.yaml", "deployment: {}\nreplicas: error\n"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "expected a scenario, the file is empty"),
        ("---\n---\n", "expected a scenario, the file is empty"),
        ("a: [1\n", "line 2, column 1: expected YAML"),
        ("a: 1\na: 2\n", "line 2, column 1: expected YAML, expected each key once, 'a' is there twice"),
        ("a: !!python/name:os.system\n", "line 1, column 4: expected YAML"),
        ("deployment: {}\n", "replicas: expected counts, a list or error, and it is missing"),
        ("deployment: {max: 3}\nreplicas: []\n", "deployment.max: expected"),
        (f"{ONE}---\ndeployment: {{}}\nreplicas: 3\n", "document 2: replicas: expected counts, a list or error"),
        ("at: 2024-99-99\n", "expected YAML"),
    ],
)
def test_a_bad_file_is_one_line_with_file_place_and_expectation(tmp_path: Path, text: str, told: str) -> None:
    path = written(tmp_path, "bad.yaml", text)
    assert refused(path, "--json").startswith(f"{path}: {told}")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "line 1, column 2: expected JSON"),
        ('{"deployment": {}, "deployment": {}}', "deployment: expected each key once in a mapping"),
    ],
)
def test_a_bad_json_file_is_told_the_same_way(tmp_path: Path, text: str, told: str) -> None:
    path = written(tmp_path, "bad.json", text)
    assert refused(path).startswith(f"{path}: {told}")


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    assert "expected a file that can be read" in refused(str(tmp_path / "none.yaml"))
    assert "expected a file that can be read" in refused(str(tmp_path))
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    assert "expected text in UTF-8" in refused(str(binary))


def test_one_bad_file_among_good_ones_stops_all_before_anything_is_printed(tmp_path: Path) -> None:
    good, bad = written(tmp_path, "good.yaml", ONE), written(tmp_path, "bad.yaml", "[]")
    assert refused(good, bad, "--json").startswith(bad)


def test_keys_taken_over_from_an_anchor_may_be_overridden(tmp_path: Path) -> None:
    text = "deployment: &base {id: d1, min_replicas: 1}\nreplicas: {healthy: 1}\n"
    text += "timeline: [{at: 0, <<: {min_replicas: 2}, min_replicas: 3}]\n"
    assert json.loads(run(written(tmp_path, "one.yaml", text), "--json"))["ticks"][0]["add"] == 2


def test_it_runs_from_the_shell_without_any_database(tmp_path: Path) -> None:
    """The database of this environment cannot even be opened."""
    blocked = tmp_path / "not-a-folder"
    blocked.write_text("")
    env = {**os.environ, "IRIS_STATE_DIR": str(blocked), "DATABASE_URL": f"sqlite:///{blocked}/db.sqlite3"}
    command = [sys.executable, "manage.py", "plan_replicas"]
    good = written(tmp_path, "one.yaml", ONE)
    done = subprocess.run([*command, good, "--json"], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["ticks"][0]["add"] == 1
    bad = subprocess.run([*command, str(blocked)], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr == f"{blocked}: expected a scenario, the file is empty\n"
