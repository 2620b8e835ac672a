"""What `up` refuses, each in one sentence that says what to do."""

import os
import socket
import stat
import threading
import time
from pathlib import Path

import pytest

from scaling.supervisor.checks import CannotStart, DataFolderLock, listen, make_data_folder


def test_a_missing_data_folder_is_made_for_its_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "var"
    make_data_folder(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(folder.iterdir()) == []


def test_a_data_folder_that_cannot_be_written_is_named_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotStart, match=r"^The data folder .*file/var cannot be written .*IRIS_STATE_DIR"):
        make_data_folder(tmp_path / "file" / "var")


def test_a_taken_port_is_named_with_another_to_choose() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        with pytest.raises(
            CannotStart, match=f"Port {taken} on 127.0.0.1 is taken .* --port, for instance {taken + 1}"
        ):
            listen("127.0.0.1", taken)


def test_a_port_that_a_killed_predecessor_still_holds_is_waited_for() -> None:
    other = socket.create_server(("127.0.0.1", 0))
    taken = other.getsockname()[1]
    threading.Timer(0.3, other.close).start()
    with listen("127.0.0.1", taken, patience_seconds=5) as listener:
        assert listener.getsockname()[1] == taken


def test_patience_with_a_taken_port_ends() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        began = time.monotonic()
        with pytest.raises(CannotStart):
            listen("127.0.0.1", other.getsockname()[1], patience_seconds=0.3)
    assert 0.3 <= time.monotonic() - began < 10


@pytest.mark.parametrize("host", ["203.0.113.7", "no such host.invalid"])
def test_an_address_that_is_not_this_machines_is_refused(host: str) -> None:
    with pytest.raises(CannotStart, match=f"{host} is no address of this machine"):
        listen(host, 0)


def test_any_free_port_may_be_asked_for() -> None:
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname(), timeout=2):
        assert listener.getsockname()[1] > 0


def test_a_second_start_on_the_same_data_folder_names_the_first(tmp_path: Path) -> None:
    lock = DataFolderLock(tmp_path)
    with pytest.raises(CannotStart, match=f"runs on this data folder already \\(process {os.getpid()}, {tmp_path}\\)"):
        DataFolderLock(tmp_path)
    lock.release()
    again = DataFolderLock(tmp_path)
    assert not again.was_killed
    again.release()


def test_a_lock_that_was_left_behind_is_taken_over_and_noticed(tmp_path: Path) -> None:
    (tmp_path / "up.lock").write_text("999999")
    lock = DataFolderLock(tmp_path)
    assert lock.was_killed
    lock.release()
