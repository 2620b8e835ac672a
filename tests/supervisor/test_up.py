"""`manage.py up` with real processes: one command starts everything, keeps it alive, and leaves nothing behind."""

import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener, urlopen

import pytest

from scaling.supervisor.watch import TASK_SECONDS
from tests.supervisor.running import PACE, Up, alive, kill, processes, up, within

pytestmark = pytest.mark.processes

CLUSTER = """\
platform: {label_prefix: demo, gcp: {project_id: p}}
scale_groups:
  cpu:
    num_vms: 1
    max_slices: 4
    buffer_slices: 1
    resources: {cpu: 8, ram: 32GB, disk: 100GB, device_type: cpu, preemptible: false}
    slice_template: {gcp: {zone: us-central1-a, machine_type: e2-highmem-2}}
"""


@pytest.fixture(scope="module")
def iris(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One installation for the tests of this file: the demonstration, with a cycle every second."""
    with up(tmp_path_factory.mktemp("iris") / "var", IRIS_CYCLE_SECONDS="1") as running:
        running.told("Iris is ready")
        yield running


BUSY = ("autoscaler", "scheduler", "heartbeat")


def now() -> str:
    """The present moment as SQLite stores it."""
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}"


def works_since(iris: Up, moment: str) -> bool:
    """Whether the busy loops have each begun and ended a round since."""
    ended = iris.rows(f"SELECT name FROM scaling_loop WHERE last_started_at > '{moment}' AND running_since IS NULL")
    return set(BUSY) <= {name for (name,) in ended}


def settled(iris: Up) -> None:
    """Waits until everything runs and works again after what a test before has done."""
    within(60, lambda: iris.children().keys() >= {"web", "worker", "ticker"}, "all processes")
    moment = now()
    within(60, lambda: works_since(iris, moment), "all loops")


def all_work(iris: Up) -> None:
    """Waits until the page answers and the queue has run a task, so until every process is there."""
    iris.told("Iris is ready")
    within(60, lambda: iris.rows("SELECT 1 FROM scaling_heartbeat"), "the first task")


def sign_in(iris: Up, password: str) -> OpenerDirector:
    browser = build_opener(HTTPCookieProcessor(CookieJar()))
    page = browser.open(f"{iris.url}/login/").read().decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert token
    form = {"username": "admin", "password": password, "csrfmiddlewaretoken": token.group(1)}
    browser.open(f"{iris.url}/login/", urlencode(form).encode())
    return browser


def test_the_page_answers_and_the_printed_password_opens_it(iris: Up) -> None:
    with sign_in(iris, iris.password).open(f"{iris.url}/") as page:
        assert page.geturl() == f"{iris.url}/"
        assert page.status == 200


def test_health_answers_without_a_login(iris: Up) -> None:
    with urlopen(f"{iris.url}/healthz") as answer:
        assert answer.status == 200


def test_it_says_that_the_cluster_is_simulated(iris: Up) -> None:
    iris.told("small simulated cluster")
    assert iris.rows("SELECT demonstration FROM scaling_installation") == [(1,)]


def test_the_secret_key_is_for_its_owner_only(iris: Up) -> None:
    key = iris.folder / "secret_key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(key.read_text()) >= 50


def test_every_loop_runs_within_seconds_of_the_start(iris: Up) -> None:
    within(20, lambda: works_since(iris, ""), "all loops")
    assert {name for (name,) in iris.rows("SELECT name FROM auth_group")} == {"viewer", "operator", "admin"}


def test_each_child_has_a_session_of_its_own(iris: Up) -> None:
    children = iris.children()
    assert children.keys() == {"web", "worker", "ticker", "guardian"}
    assert all(os.getsid(pid) == pid for pid in children.values())


@pytest.mark.parametrize("name", ["worker", "ticker"])
def test_a_killed_child_is_back_at_work_within_ten_seconds_and_no_cycle_runs_twice(iris: Up, name: str) -> None:
    settled(iris)
    killed, said = iris.children()[name], len(iris.lines)
    kill(killed)
    moment = now()
    within(10 * PACE, lambda: works_since(iris, moment), f"the loops after the end of the {name}")
    assert iris.children()[name] != killed
    iris.told(f"{name} was killed by SIGKILL; starting it again", since=said)
    (cycles,), (claimed,) = (
        iris.rows("SELECT count(*) FROM scaling_cycle")[0],
        iris.rows("SELECT round FROM scaling_loop WHERE name = 'autoscaler'")[0],
    )
    assert cycles <= claimed


def test_a_killed_web_process_is_back_while_its_port_stays_open(iris: Up) -> None:
    kill(iris.children()["web"])
    with urlopen(f"{iris.url}/healthz", timeout=10 * PACE) as answer:
        assert answer.status == 200


def test_a_queue_that_locked_up_is_replaced(iris: Up) -> None:
    """An idle process of the queue that is killed takes the queue's lock with it."""
    settled(iris)
    sentinel = next(pid for pid, parent, _ in processes() if parent == iris.children()["worker"])
    pool = sorted(pid for pid, parent, _ in processes() if parent == sentinel)
    worker = iris.children()["worker"]
    # Stopped, all of it holds still without dying: nothing is more locked up than that.
    for pid in (worker, sentinel, *pool):
        kill(pid, signal.SIGSTOP)
    moment = now()
    # Stopped within a task, which may well take its time, they count as busy until that is over.
    within(30 + TASK_SECONDS, lambda: works_since(iris, moment), "the loops after a lock-up")
    assert not alive({worker, sentinel, *pool})


def test_a_second_start_on_the_same_data_folder_is_told_so(iris: Up) -> None:
    with up(iris.folder) as second:
        assert second.wait(20) == 1
    assert len(second.lines) == 1
    assert f"runs on this data folder already (process {iris.pid}" in second.lines[0]


def test_a_taken_port_is_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        refused = Up(tmp_path / "var", "--port", port)
        assert refused.wait(20) == 1
    assert refused.lines == [
        f"Port {port} on 127.0.0.1 is taken by another program; choose another with --port, for instance "
        f"{int(port) + 1}."
    ]


def test_a_data_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with up(tmp_path / "file" / "var") as refused:
        assert refused.wait(20) == 1
    (line,) = refused.lines
    assert line.startswith(f"The data folder {tmp_path}/file/var cannot be written")


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        (
            {"IRIS_CYCLE_SECONDS": "soon"},
            "Configuration: IRIS_CYCLE_SECONDS: expected a number from 0.5 to 3,600, got 'soon'",
        ),
        ({"DATABASE_URL": "postgres://nobody@127.0.0.1:9/none"}, "The database does not answer (DATABASE_URL): "),
        (
            {"IRIS_INSTANCE": "a@b"},
            "Configuration: IRIS_INSTANCE: expected 1 to 40 ASCII characters without blanks and @",
        ),
        ({"DATABASE_URL": "mysql://x"}, "Configuration: DATABASE_URL: expected postgres://"),
        ({"IRIS_BROKER_URL": "foo"}, "Configuration: IRIS_BROKER_URL: expected the address of a Redis server"),
        ({"IRIS_BROKER_URL": "redis://127.0.0.1:9/0"}, "The queue does not answer (IRIS_BROKER_URL): "),
    ],
)
def test_wrong_configuration_is_one_sentence(tmp_path: Path, environment: dict[str, str], sentence: str) -> None:
    with up(tmp_path / "var", **environment) as refused:
        assert refused.wait(20) == 1
    (line,) = refused.lines
    assert line.startswith(sentence)


def test_ctrl_c_leaves_nothing_behind_within_three_seconds(tmp_path: Path) -> None:
    with up(tmp_path / "var", "--no-demonstration") as iris:
        all_work(iris)
        everything = iris.everything()
        assert len(everything) >= 10
        iris.send(signal.SIGINT)
        assert iris.wait(3 * PACE) == 0
        assert not alive(everything)
        assert iris.lines[-1] == "Stopped."
    with up(tmp_path / "var", "--no-demonstration") as again:
        again.told("Iris is ready")
        assert not [line for line in again.lines if "Password" in line]
        again.send(signal.SIGTERM)
        assert again.wait(3 * PACE) == 0


def test_a_killed_supervisor_takes_its_children_along_and_can_be_started_again(tmp_path: Path) -> None:
    with up(tmp_path / "var", "--no-demonstration") as iris:
        all_work(iris)
        everything = iris.everything()
        kill(iris.pid)
        within(3 * PACE, lambda: not alive(everything), "the end of all children")
    with up(tmp_path / "var") as again:
        again.told("Iris is ready")


def test_a_cluster_file_is_opened_on_once_and_what_is_not_built_is_said_to_be_simulated(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER)
    for start in range(2):
        with up(tmp_path / "var", "--cluster", str(file)) as iris:
            iris.told("is not read again" if start else "Platform gcp is simulated: Iris has no client for it yet")
            assert iris.rows("SELECT kind, simulated, mode FROM scaling_platform") == [("gcp", 1, "act")]
            assert iris.rows("SELECT demonstration FROM scaling_installation") == [(0,)]


def test_a_bad_cluster_file_is_one_sentence_and_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER.replace("max_slices: 4", "max_slices: many"))
    with up(tmp_path / "var", "--cluster", str(file)) as refused:
        assert refused.wait(30) == 2
    assert not (tmp_path / "var" / "iris.sqlite3").exists() and not list(tmp_path.glob("var/*.sqlite3"))
    (line,) = refused.lines
    assert "max_slices" in line


def test_a_real_cluster_is_not_mixed_into_the_demonstration(iris: Up, tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER)
    copy = tmp_path / "var"
    copy.mkdir()
    with up(copy) as first:
        first.told("small simulated cluster")
        first.send(signal.SIGINT)
        first.wait(10)
    with up(copy, "--cluster", str(file)) as refused:
        assert refused.wait(30) == 1
    assert "demonstration cluster" in refused.lines[-1]


def test_without_packages_the_command_names_what_to_do(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "manage.py", "up"],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == "django is not installed here; `make setup` installs what Iris needs, in .venv.\n"
