"""`bin/setup` on machines that lack something: one sentence that names it."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ("sh", "cat", "cksum", "dirname", "rm")

Setup = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    """Runs bin/setup of a copy of the project, on a PATH that holds nothing but the given programs."""
    project, path = tmp_path / "project", tmp_path / "path"
    shutil.copytree(ROOT / "bin", project / "bin")
    for lock in ("requirements.lock", "requirements-dev.lock"):
        shutil.copy(ROOT / lock, project)
    path.mkdir()
    for tool in TOOLS:
        (path / tool).symlink_to(shutil.which(tool) or tool)

    def run(*arguments: str, programs: dict[str, str] | None = None, **environment: str):  # type: ignore[no-untyped-def]
        for name, script in (programs or {}).items():
            program = path / name
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
        return subprocess.run(
            ["sh", "bin/setup", *arguments],
            cwd=project,
            env={"PATH": str(path), **environment},
            capture_output=True,
            text=True,
        )

    return run


def test_a_missing_python_is_named_with_what_to_install(setup: Setup) -> None:
    done = setup()
    assert done.returncode == 1
    assert done.stderr.startswith("Iris needs Python 3.11 or newer, and found none")
    assert "apt install python3 python3-venv" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_python_that_is_too_old_is_not_taken(setup: Setup) -> None:
    done = setup(programs={"python3": "exit 1"})
    assert done.returncode == 1
    assert "3.11 or newer" in done.stderr


def test_a_python_named_by_hand_must_be_new_enough_too(setup: Setup) -> None:
    done = setup(programs={"old": "exit 1"}, PYTHON="old")
    assert done.returncode == 1
    assert done.stderr == "PYTHON=old is not a Python 3.11 or newer; name another.\n"


def test_a_missing_venv_module_is_named(setup: Setup) -> None:
    done = setup(programs={"python3": 'case "$2" in *ensurepip*) exit 1;; esac; exit 0'})
    assert done.returncode == 1
    assert done.stderr == "Python's venv module is missing (Debian, Ubuntu: apt install python3-venv).\n"


def test_packages_that_cannot_be_installed_are_told_and_tried_again_next_time(setup: Setup, tmp_path: Path) -> None:
    fake = (
        'case "$*" in *"-m venv"*) /bin/mkdir -p .venv/bin; /bin/cp "$0" .venv/bin/python;; '
        '*"-m pip"*) echo "no index" >&2; exit 1;; esac; exit 0'
    )
    for _ in range(2):
        done = setup(programs={"python3": fake})
        assert done.returncode == 1
        assert "could not be installed (see above)" in done.stderr


def test_what_is_set_up_already_is_left_alone(setup: Setup) -> None:
    fake = 'case "$*" in *"-m venv"*) /bin/mkdir -p .venv/bin; /bin/cp "$0" .venv/bin/python;; esac; exit 0'
    first = setup("dev", programs={"python3": fake})
    assert first.returncode == 0
    assert "Installing the packages of requirements-dev.lock" in first.stdout
    for kind in ("dev", "runtime"):
        again = setup(kind, programs={"python3": fake})
        assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_uv_is_used_where_it_is(setup: Setup, tmp_path: Path) -> None:
    fake_uv = f'echo "$*" >>{tmp_path}/uv.log; [ "$1" != venv ] || {{ /bin/mkdir -p .venv/bin; }}'
    setup(programs={"python3": "exit 0", "uv": fake_uv})
    called = (tmp_path / "uv.log").read_text().splitlines()
    assert called[0].startswith("venv --quiet --python")
    assert called[1] == "pip install --quiet --require-hashes -r requirements.lock"
