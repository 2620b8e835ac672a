"""`manage.py` beside its commands: without a database, interrupted, or with nobody left to read what it says."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import OperationalError

from scaling.management import entry

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.processes


def manage(folder: Path, *words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """A command as a person runs it, on a data folder of its own."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("IRIS_", "DATABASE_URL"))}
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=inherited | {"IRIS_STATE_DIR": str(folder)} | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    "words",
    [
        ["drain", "v5p"],
        ["acknowledge", "1", "--note", "x"],
        ["create_token", "ci", "--role", "admin"],
        ["import_cluster", "cluster.yaml", "--dry-run"],
        ["changepassword", "admin"],
        ["cloud", "show"],
    ],
    ids=lambda words: words[0],
)
def test_a_command_on_a_data_folder_that_is_not_there_says_so_and_makes_nothing(
    tmp_path: Path, words: list[str]
) -> None:
    told = manage(tmp_path / "var", *words)
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr == f"There is no Iris database at {tmp_path}/var/iris.sqlite3; `manage.py up` makes one.\n"
    assert not (tmp_path / "var").exists()


@pytest.mark.parametrize("content", [b"", b"not a database" * 100])
def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "iris.sqlite3"
    file.write_bytes(content)
    told = manage(tmp_path, "status")
    assert told.returncode == 1
    assert told.stderr.count("\n") == 1
    assert "There is no Iris database" in told.stderr or "file is not a database" in told.stderr
    assert file.read_bytes() == content


def test_a_database_without_tables_or_of_an_earlier_version_is_said(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "iris.sqlite3") as connection:
        connection.execute("CREATE TABLE other (id)")
    told = manage(tmp_path, "undrain", "v5p")
    assert (told.returncode, told.stderr.count("\n")) == (1, 1)
    assert "holds no Iris yet; `manage.py up` (or `migrate`) prepares it." in told.stderr
    assert manage(tmp_path, "migrate", "scaling", "0003", "-v", "0").returncode == 0
    told = manage(tmp_path, "status")
    assert (told.returncode, told.stderr.count("\n")) == (1, 1)
    assert "is of an earlier version of Iris; `manage.py up` (or `migrate`) updates it." in told.stderr


def test_migrate_makes_the_folder_and_every_command_works_then(tmp_path: Path) -> None:
    assert manage(tmp_path / "var", "migrate", "-v", "0").returncode == 0
    assert manage(tmp_path / "var", "status").returncode == 0
    refused = manage(tmp_path / "var", "drain", "v5p")
    assert (refused.returncode, refused.stderr) == (1, 'CommandError: there is no group or slice "v5p"\n')


def test_a_database_server_that_does_not_answer_is_said_without_its_password(tmp_path: Path) -> None:
    told = manage(tmp_path, "status", DATABASE_URL="postgres://iris:hush@127.0.0.1:1/iris")
    assert (told.returncode, told.stderr.count("\n")) == (1, 1)
    assert told.stderr.startswith("The database does not answer (iris on 127.0.0.1): ")
    assert "hush" not in told.stderr


def test_help_needs_no_database(tmp_path: Path) -> None:
    assert manage(tmp_path / "var", "drain", "--help").returncode == 0
    assert not (tmp_path / "var").exists()


def ends_with(monkeypatch: pytest.MonkeyPatch, error: BaseException, *words: str) -> object:
    """What the command exits with when it ends like this."""

    def execute(_arguments: list[str]) -> None:
        raise error

    monkeypatch.setattr(entry, "execute_from_command_line", execute)
    monkeypatch.setattr(entry, "why_not", lambda: "")
    with pytest.raises(SystemExit) as ended:
        entry.run(["manage.py", *words])
    return ended.value.code


def test_an_interrupted_start_is_a_quiet_end(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert ends_with(monkeypatch, KeyboardInterrupt(), "up") == 0
    assert ends_with(monkeypatch, KeyboardInterrupt(), "status") == 130
    assert capfd.readouterr() == ("", "")


def test_a_database_that_stops_answering_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    code = ends_with(monkeypatch, OperationalError("server closed the connection\n  probably\n"), "status")
    assert str(code).endswith("): server closed the connection.")


def test_output_that_nobody_reads_ends_the_command_quietly(tmp_path: Path) -> None:
    lines = "from scaling.management import entry; entry.execute_from_command_line = lambda _: [print(n) for n in "
    code = f"{lines}range(200_000)]; entry.run(['manage.py', 'plan_cluster'])"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "iris_web.settings", "IRIS_STATE_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    assert process.stderr
    assert process.stdout.readline() == b"0\n"
    process.stdout.close()
    assert (process.wait(30), process.stderr.read()) == (0, b"")
    process.stderr.close()
