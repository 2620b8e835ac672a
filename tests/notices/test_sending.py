"""Messages on the wire: what real receivers get, and what is told of those that fail."""

import logging
import socket
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter

from scaling.notices import sender
from scaling.notices.errand import Errand, Order, service_of
from scaling.notices.retries import Answer
from tests.notices.receivers import free_port, mail_receiver, web_receiver

SECRET = "hunter22secret"
DEADLINE_SECONDS = 60


def order(url: str) -> Order:
    return Order(url, "Stock-out: v5-8", "Nothing can be bought.\nIris notice abc123", "new", "abc123")


@pytest.fixture
def carry(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Answer]:
    """What the sender's process does with an order, without the process."""
    monkeypatch.setattr(requests.sessions, "HTTPAdapter", HTTPAdapter)
    for name in ("handlers", "propagate", "level"):
        monkeypatch.setattr(logging.getLogger("apprise"), name, getattr(logging.getLogger("apprise"), name))

    def carried(url: str) -> Answer:
        told = sender.carry_out({**asdict(order(url)), "seconds": 10})
        return Answer(told["ok"], told["error"], told["status"], told["retry_after"])

    return carried


Carry = Callable[[str], Answer]


def test_webhook_slack_and_mail_receivers_get_the_message_with_its_id(carry: Carry) -> None:
    with web_receiver() as web, mail_receiver() as mail:
        urls = {
            "hook": f"http://{web.host}/hook/{SECRET}",
            "slack": f"slack+http://{web.host}/services/{SECRET}",
            "library": f"mmost://{web.host}/{'a' * 24}",
            "mail": f"mailto://127.0.0.1:{mail.port}?from=iris@example.com&to=ops@example.com&mode=insecure",
        }
        told = {name: carry(url) for name, url in urls.items()}
        got = dict(web.got)
    assert {name: answer.error for name, answer in told.items() if not answer.ok} == {}
    hook = got[f"/hook/{SECRET}"]
    assert (hook["title"], hook["id"], hook["type"]) == ("Stock-out: v5-8", "abc123", "warning")
    assert hook["message"].splitlines() == ["Nothing can be bought.", "Iris notice abc123"]
    assert got[f"/services/{SECRET}"] == {"text": "*Stock-out: v5-8*\nNothing can be bought.\nIris notice abc123"}
    assert "Stock-out: v5-8" in got[f"/hooks/{'a' * 24}"]["text"]
    [letter] = mail.got
    assert letter["subject"] == "Stock-out: v5-8" and letter["to"] == "ops@example.com"
    assert "Iris notice abc123" in letter.get_body(("plain", "html")).get_content()


@pytest.mark.parametrize("scheme", ["http", "slack+http"])
@pytest.mark.parametrize(
    "path",
    [
        "/hook?token=aBc&method=GET&format=zz",
        "/a%2Fb/?x=1&x=2;y&verify=no&empty",
        "/?q=%20%2B+",
        "/a%20b",
        "/h?-x=1&+y=2",
    ],
)
def test_a_webhook_is_called_at_the_address_as_it_was_typed(carry: Carry, scheme: str, path: str) -> None:
    with web_receiver() as web:
        assert carry(f"{scheme}://user:pa%40ss@{web.host}{path}").ok
    [(called, body)] = web.got
    assert called == path
    assert set(body) >= ({"text"} if scheme == "slack+http" else {"title", "message", "type", "id"})
    assert web.users == ["user:pa@ss"]


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> str:
    """A name that no resolver knows, whatever resolver the machine has."""
    resolve = socket.getaddrinfo

    def resolved(host: Any, *given: Any, **more: Any) -> Any:
        if host == "nowhere.invalid":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return resolve(host, *given, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    return "nowhere.invalid"


def test_each_way_to_fail_is_told_in_words_without_the_secret(carry: Carry, nowhere: str) -> None:
    with web_receiver() as web, mail_receiver() as mail:
        mail.refuse = f"554 no mail with {SECRET}"
        web.answers = {
            f"/broken/{SECRET}": (500, {}),
            f"/busy/{SECRET}": (429, {"Retry-After": "30"}),
            f"/gone/{SECRET}": (410, {}),
        }
        urls = {
            "broken": f"http://{web.host}/broken/{SECRET}",
            "busy": f"http://{web.host}/busy/{SECRET}",
            "gone": f"slack+http://{web.host}/gone/{SECRET}",
            "refused": f"http://127.0.0.1:{free_port()}/{SECRET}",
            "unresolved": f"http://{nowhere}/{SECRET}",
            "mail": f"mailto://127.0.0.1:{mail.port}?from=iris@example.com&to={SECRET}@example.com&mode=insecure",
            "nobody": f"nonsense://{SECRET}",
        }
        told = {name: carry(url) for name, url in urls.items()}
    assert not any(answer.ok for answer in told.values())
    assert told["broken"] == Answer(False, "it answered 500 (Internal Server Error)", 500, None)
    assert told["busy"] == Answer(False, "it answered 429 (Too Many Requests) and asks to wait 30 s", 429, 30.0)
    assert told["gone"].status == 410
    assert told["refused"].error == "the connection was refused"
    assert told["unresolved"].error == "its name cannot be resolved"
    assert told["mail"].error.startswith("it was not taken: ") and "554" in told["mail"].error
    assert told["nobody"].error == "no service of the notification library has an address of this form"
    assert all(SECRET not in answer.error for answer in told.values())


@pytest.mark.processes
@pytest.mark.one_database
def test_a_receiver_that_never_answers_is_left_when_the_time_is_up() -> None:
    with web_receiver() as web:
        web.answers = {"/slow": "never"}
        answer = Errand(order(f"http://{web.host}/slow"), seconds=0.5).wait()
    assert answer.error in ("it did not answer within 0.5 s", "it did not answer in time")


@pytest.mark.processes
@pytest.mark.one_database
def test_a_process_that_dies_is_a_failed_attempt() -> None:
    with web_receiver() as web:
        web.answers = {"/slow": "never"}
        errand = Errand(order(f"http://{web.host}/slow"), seconds=DEADLINE_SECONDS)
        assert web.reached.wait(DEADLINE_SECONDS)
        errand._process.kill()
        assert errand.wait() == Answer(False, "the process that sends it ended without an answer")


@pytest.mark.processes
@pytest.mark.one_database
def test_a_process_of_its_own_carries_a_message_and_names_the_service_of_an_address() -> None:
    with web_receiver() as web:
        errand = Errand(order(f"http://{web.host}/hook"))
        slack = service_of(f"https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/{'x' * 24}")
        assert errand.wait() == Answer(True)
    assert [path for path, _ in web.got] == ["/hook"]
    assert slack == "Slack"
