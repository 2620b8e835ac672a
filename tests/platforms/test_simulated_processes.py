"""The simulated cloud under several processes, kills and restarts."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from scaling.platforms.base import PlatformError, PlatformUnreachableError, SliceExistsError
from scaling.platforms.simulated import Answer, CallKind, PostgresStore, SqliteStore, Store
from tests.platforms.conftest import Rig, request

pytestmark = pytest.mark.processes

BUYER = """
import sys
from pathlib import Path
from scaling.platforms.base import SliceExistsError, SliceRequest
from scaling.platforms.simulated import CloudSettings, PostgresStore, SimulatedProvisioner, SqliteStore
store = {store}
client = SimulatedProvisioner(store, {cloud!r}, CloudSettings(answer_seconds={answer}), timeout_seconds=60)
for name in {names!r}:
    try:
        client.create_slice(SliceRequest(name, "g", "iris-1", "z", "cpu", "", 0, 1, "on_demand"))
        print("bought", name, flush=True)
    except SliceExistsError:
        print("exists", name, flush=True)
"""


def described(store: Store) -> str:
    """The expression that makes this store in another process."""
    if isinstance(store, SqliteStore):
        return f"SqliteStore(Path({str(store.path)!r}))"
    assert isinstance(store, PostgresStore)
    return f"PostgresStore({store.parameters!r})"


def start_buyer(rig: Rig, names: list[str], answer: float = 0.0) -> "subprocess.Popen[str]":
    code = BUYER.format(store=described(rig.store), cloud=rig.cloud, names=names, answer=answer)
    root = Path(__file__).resolve().parents[2]
    return subprocess.Popen([sys.executable, "-c", code], cwd=root, stdout=subprocess.PIPE, text=True)


def wait_until_bought(rig: Rig, name: str) -> None:
    deadline = time.monotonic() + 20
    while not rig.books.accepted_creates(name):
        assert time.monotonic() < deadline, "the other process never bought"
        time.sleep(0.02)


def test_a_buyer_killed_before_the_answer_has_bought_and_asking_again_buys_nothing(rig: Rig) -> None:
    buyer = start_buyer(rig, ["a"], answer=60)
    wait_until_bought(rig, "a")
    os.kill(buyer.pid, signal.SIGKILL)
    output, _ = buyer.communicate(timeout=10)
    (call,) = rig.books.calls(CallKind.CREATE)
    assert output == ""
    assert (call.answer, call.answered_at) == (Answer.ACCEPTED, None)
    assert call.effect_at is not None
    with pytest.raises(SliceExistsError):
        rig.client.create_slice(request("a"))
    assert rig.books.accepted_creates("a") == 1
    assert len(rig.client.list_slices("iris-1")) == 1


def test_two_processes_asking_for_the_same_names_buy_each_once(rig: Rig) -> None:
    names = [f"s-{index}" for index in range(25)]
    buyers = [start_buyer(rig, names), start_buyer(rig, names[::-1])]
    outputs = [buyer.communicate(timeout=60)[0] for buyer in buyers]
    told = "".join(outputs).split("\n")
    assert sorted(line for line in told if line.startswith("bought")) == sorted(f"bought {name}" for name in names)
    assert sum(line.startswith("exists") for line in told) == 25
    assert {name: rig.books.accepted_creates(name) for name in names} == dict.fromkeys(names, 1)


def test_the_books_survive_a_restart(rig: Rig) -> None:
    start_buyer(rig, ["a", "b"]).communicate(timeout=30)
    rig.at = time.time()
    assert set(rig.listed()) == {"a", "b"}
    assert len(rig.books.calls(CallKind.CREATE)) == 2


def test_many_threads_may_open_new_books_at_once(tmp_path: Path, rig: Rig) -> None:
    if isinstance(rig.store, SqliteStore):
        rig.store = SqliteStore(tmp_path / "new.sqlite3")
    failures: list[Exception] = []

    def buy(name: str) -> None:
        try:
            rig.client.create_slice(request(name))
        except PlatformError as error:
            failures.append(error)

    threads = [threading.Thread(target=buy, args=[f"s-{index}"]) for index in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(rig.books.slices()) == 12


def test_books_that_cannot_be_opened_are_one_clear_sentence_and_never_an_empty_list(tmp_path: Path) -> None:
    broken = Rig(SqliteStore(tmp_path / "missing" / "cloud.sqlite3"))
    with pytest.raises(PlatformUnreachableError, match=r"The cloud's books .* cannot be used: unable to open"):
        broken.listed()
