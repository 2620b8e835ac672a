"""Names of this site in the configuration: read leniently where they can be meant, refused where they never match."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from iris_web.addresses import read_broker, read_hosts, read_origins

SECRET = "fifty characters that nobody has written elsewhere"
ROOT = Path(__file__).resolve().parents[2]


def test_names_are_read_as_browsers_send_them() -> None:
    assert read_hosts(" Iris.Example, .example.org,10.0.0.7 ,[::1],*,") == [
        "iris.example", ".example.org", "10.0.0.7", "[::1]", "*",
    ]  # fmt: skip
    assert read_hosts("") == read_origins(" , ") == []


@pytest.mark.parametrize("text", ["https://iris.example", "iris.example:8000", "iris.example/", "iris example", "::1"])
def test_a_name_that_no_browser_sends_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected names such as iris\.example, without scheme and port, got "):
        read_hosts(f"good.example,{text}")


def test_origins_are_read_as_browsers_send_them() -> None:
    assert read_origins("https://Iris.Example/, http://10.0.0.7:8080,https://iris.example:443,https://*.example") == [
        "https://iris.example", "http://10.0.0.7:8080", "https://iris.example", "https://*.example",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text", ["iris.example", "*", "https://iris.example/pages", "ftp://iris.example", "https://", "https://a b"]
)
def test_an_origin_that_no_browser_sends_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected origins such as https://iris\.example, without a path, got "):
        read_origins(text)


@pytest.mark.parametrize(
    "text", ["", "redis://cache:6379/0", "rediss://u:p%40ss@[::1]:6380/1", "unix:///run/redis.sock"]
)
def test_the_queues_server_is_taken_as_it_is_named(text: str) -> None:
    assert read_broker(f" {text} ") == text


@pytest.mark.parametrize(
    "text", ["foo", "cache:6379", "http://cache", "redis://", "redis://cache:99999", "redis://c/x"]
)
def test_what_names_no_redis_is_refused_without_its_password(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected the address of a Redis server such as redis://host:6379/0, "):
        read_broker(text)


def configured(folder: Path, *words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("IRIS_", "DATABASE_URL"))}
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=clean | {"IRIS_STATE_DIR": str(folder)} | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.processes
@pytest.mark.parametrize("words", [["qcluster"], ["up", "--port", "0"], ["up", "--port", "0", "--host", "0.0.0.0"]])
def test_production_without_the_names_of_the_site_does_not_start(tmp_path: Path, words: list[str]) -> None:
    told = configured(tmp_path / "var", *words, IRIS_PRODUCTION="1", IRIS_SECRET_KEY=SECRET)
    assert (told.returncode, told.stderr.count("\n")) == (1, 1)
    assert "IRIS_ALLOWED_HOSTS" in told.stderr
    assert "must name this site, such as iris.example, when IRIS_PRODUCTION=1" in told.stderr
    assert not (tmp_path / "var").exists()


@pytest.mark.processes
@pytest.mark.parametrize("name", ["IRIS_ALLOWED_HOSTS", "IRIS_TRUSTED_ORIGINS"])
def test_a_name_that_cannot_be_meant_is_said_at_the_start(tmp_path: Path, name: str) -> None:
    told = configured(tmp_path, "check", **{name: "iris example"})
    assert (told.returncode, told.stderr.count("\n")) == (1, 1)
    assert told.stderr.startswith(f"Configuration: {name}: expected ")
