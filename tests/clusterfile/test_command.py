"""`manage.py import_cluster`: what it prints, and one line for a file that cannot be used."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command

from scaling.loops.registry import LOOPS
from scaling.models import Action, Group, Loop
from tests.clusterfile.files import REMOVED, small

pytestmark = pytest.mark.django_db

WriteFile = Callable[..., Path]


@pytest.fixture
def write_file(tmp_path: Path) -> WriteFile:
    def write(content: Any, name: str = "cluster.yaml") -> Path:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False), "utf-8")
        return path

    return write


def run(path: Path | str, *options: str) -> list[str]:
    out = io.StringIO()
    call_command("import_cluster", str(path), *options, stdout=out)
    return out.getvalue().splitlines()


def refused(path: Path | str) -> str:
    out, err = io.StringIO(), io.StringIO()
    with pytest.raises(SystemExit) as end:
        call_command("import_cluster", str(path), stdout=out, stderr=err)
    assert end.value.code == 2
    assert out.getvalue() == ""
    assert not Group.objects.exists()
    (line,) = err.getvalue().splitlines()
    return line


def test_it_prints_what_it_made_and_did_not_understand(write_file: WriteFile) -> None:
    lines = run(write_file(small({"worker_provider": {}, "scale_groups.cpu.weight": 3})))
    assert lines[:5] == [
        "made 1 platform:",
        "  gcp: mode observe, simulated (no client of its own yet)",
        "made 2 quota pools:",
        "  serving/us-west4-a",
        "  serving/europe-west4-b",
    ]
    assert lines[5] == "made 5 groups:"
    assert lines[6] == (
        "  tpu_serving_4-us-west4-a: v5litepod-4 × 1 worker, preemptible, priority 10, buffer 2, max 32, "
        "pool serving/us-west4-a tier 1"
    )
    assert lines[11:14] == ["did not understand 2 keys:", "  scale_groups.cpu.weight", "  worker_provider"]
    assert Action.objects.filter(kind="import", source="shell").exists()


def test_it_prints_what_changed_and_what_it_left_alone(write_file: WriteFile) -> None:
    run(write_file(small()))
    service_account = "scale_groups.cpu.slice_template.gcp.machine_type"
    lines = run(
        write_file(small({"tpu_pools": {}, "scale_groups.cpu.max_slices": 9, service_account: "n2-standard-4"}))
    )
    assert lines[:4] == [
        "changed 1 platform:",
        "  gcp: options.slice_templates.cpu-us-west4-a.machine_type n2-highmem-2 → n2-standard-4",
        "changed 1 group:",
        "  cpu-us-west4-a: max_slices 6 → 9",
    ]
    assert lines[4].startswith("not in the file, left alone: tpu_serving_16-europe-west4-b, ")


def test_a_dry_run_says_so_and_writes_nothing(write_file: WriteFile) -> None:
    assert run(write_file(small()), "--dry-run")[-1] == "dry run: nothing was written"
    assert not Group.objects.exists()


def _period_note(lines: list[str]) -> str:
    return next((line for line in lines if line.startswith("note: ") and "cycle" in line), "")


def test_the_period_of_the_file_becomes_the_cycles_and_is_kept_by_files_that_state_none(write_file: WriteFile) -> None:
    told = "note: a cycle runs every 5 s from now on, as the file asks; it was every 10 s"
    assert _period_note(run(write_file(small()), "--dry-run")) == told
    assert not Loop.objects.exists()
    assert _period_note(run(write_file(small()))) == told
    assert Loop.objects.get().period_seconds == 5
    action = Action.objects.get(target="loop autoscaler")
    assert (action.before, action.after) == ({"period_seconds": 10}, {"period_seconds": 5})
    silent = small({"defaults.autoscaler.evaluation_interval": REMOVED})
    assert _period_note(run(write_file(silent))) == _period_note(run(write_file(small()))) == ""
    assert Loop.objects.get().period_seconds == 5


def test_a_period_that_the_configuration_fixes_wins_and_the_difference_is_told(
    write_file: WriteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LOOPS, "autoscaler", replace(LOOPS["autoscaler"], adjustable=False, period_seconds=7))
    assert _period_note(run(write_file(small()))) == (
        "note: the file asks for a cycle every 5 s, this installation runs one every 7 s (setting IRIS_CYCLE_SECONDS)"
    )
    assert not Action.objects.filter(target="loop autoscaler").exists()


def test_a_json_file_works_too(write_file: WriteFile) -> None:
    path = write_file(json.dumps(small()), "cluster.json")
    assert "made 5 groups:" in run(path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tpu_pools: [", "expected YAML"),
        ("name: a\nname: b\n", "line 2, column 1: expected YAML, expected each key once, 'name' is there twice"),
        (
            "scale_groups:\n  cpu: {max_slices: 1, max_slices: 2}\n",
            "expected each key once, 'max_slices' is there twice",
        ),
        ("name: a\n---\nname: b\n", "expected one document, got 2"),
        ("", "expected a cluster file, the file is empty"),
        ("- a\n", "expected a cluster file, which is a mapping, got a list"),
        ("name: !!python/object/apply:os.system ['true']\n", "expected YAML"),
        ("a: &x [*x]\nname: 7\n", "name: expected a text of one line, got 7"),
        (
            "scale_groups:\n  cpu: {max_slices: -1, slice_template: {local: }}\n",
            "scale_groups.cpu.max_slices: -1 is negative",
        ),
        ("[" * 5000, "expected YAML, its lists and mappings are nested too deeply to be read"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line(write_file: WriteFile, text: str, sentence: str) -> None:
    path = write_file(text)
    line = refused(path)
    assert line.startswith(f"{path}: ")
    assert sentence in line


def test_a_json_file_that_is_nested_too_deeply_is_one_line(write_file: WriteFile) -> None:
    line = refused(write_file("[" * 100_000, "cluster.json"))
    assert line.endswith("expected JSON, its lists and mappings are nested too deeply to be read")


def test_a_missing_file_a_folder_and_a_huge_file_are_one_line_each(write_file: WriteFile, tmp_path: Path) -> None:
    assert "expected a file that can be read: No such file" in refused(tmp_path / "absent.yaml")
    assert "expected a regular file" in refused(tmp_path)
    assert "expected at most 4,194,304 bytes, got 5,000,000" in refused(write_file("#" * 5_000_000))


def test_every_fault_is_told_with_its_place_at_once(write_file: WriteFile) -> None:
    wrong = small(
        {"scale_groups.cpu.priority": "high", "scale_groups.cpu.max_slices": "many", "platform.label_prefix": 7}
    )
    err = io.StringIO()
    with pytest.raises(SystemExit) as end:
        call_command("import_cluster", str(write_file(wrong)), stderr=err)
    lines = err.getvalue().splitlines()
    assert end.value.code == 2 and len(lines) == 3
    for place in ("platform.label_prefix", "scale_groups.cpu.priority", "scale_groups.cpu.max_slices"):
        assert sum(f"{place}: " in line for line in lines) == 1, lines
    assert not Group.objects.exists()
