"""Hints between processes: they reach every reader, and nothing that is wrong with a reader harms the writer."""

import socket
from pathlib import Path

import pytest
from django.conf import LazySettings

from scaling.feed import hints


@pytest.fixture
def folder(settings: LazySettings, tmp_path: Path) -> Path:
    settings.STATE_DIR = tmp_path
    return tmp_path


def heard(listener: hints.Listener) -> bool:
    try:
        listener.socket.recv(1)
    except BlockingIOError:
        return False
    return True


def test_a_hint_reaches_every_reader(folder: Path) -> None:
    readers = [hints.Listener() for _ in range(3)]
    hints.send()
    assert [heard(reader) for reader in readers] == [True] * 3
    for reader in readers:
        reader.close()
    assert list(hints.directory().iterdir()) == []


def test_the_socket_of_a_dead_reader_is_removed_and_the_others_still_hear(folder: Path) -> None:
    alive = hints.Listener()
    stale = hints.directory() / "1-dead.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as dead:
        dead.bind(str(stale))
    (hints.directory() / "2-file.sock").touch()
    hints.send()
    assert heard(alive)
    assert not stale.exists()
    alive.close()


def test_a_reader_that_does_not_read_never_blocks_a_writer(folder: Path) -> None:
    sleeper = hints.Listener()
    for _ in range(5000):
        hints.send()
    sleeper.drain()
    assert not heard(sleeper)
    sleeper.close()


def test_a_long_folder_name_works_as_well(settings: LazySettings, tmp_path: Path) -> None:
    settings.STATE_DIR = tmp_path / ("long" * 30) / "deeper"
    reader = hints.Listener()
    hints.send()
    assert heard(reader)
    reader.close()


def test_without_any_reader_or_folder_a_hint_goes_nowhere(settings: LazySettings, tmp_path: Path) -> None:
    settings.STATE_DIR = tmp_path / "absent"
    hints.send()


def test_a_folder_that_cannot_be_written_leaves_a_silent_reader(settings: LazySettings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings.STATE_DIR = tmp_path / "file"
    reader = hints.Listener()
    hints.send()
    assert not heard(reader)
    reader.close()
