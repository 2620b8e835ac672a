"""What each fault does to four healthy replicas that nothing but the metrics holds: none is lost, none is bought."""

from collections.abc import Callable

import pytest

from scaling.replicas.decision import Gate
from tests.services.programs import free_port
from tests.sources.prometheus.support import (
    NOW,
    Asked,
    Reply,
    both,
    cuts_off,
    decided,
    drips_body,
    is_silent,
    read,
    refuses,
    resets,
    says,
    scripted,
    series,
    vector,
)

CALM = vector(series("d1", "50"))
IDLE = vector(series("d1", "0"))
BUSY = vector(series("d1", "80"))


def test_with_good_answers_a_calm_deployment_shrinks() -> None:
    """What the faults below hold back."""
    with scripted(both(CALM, IDLE)) as server:
        decision = decided(read(server.url).readings["d1"])
    assert (decision.gate, decision.stop) == (None, ("r1",))


@pytest.mark.parametrize(
    "reply",
    [
        refuses(200),
        refuses(400),
        refuses(401),
        refuses(500),
        refuses(503),
        says("<html>", content_type="text/html"),
        says('{"status": "succ'),
        says({}, 302, Location="http://elsewhere"),
        says(vector()),
        says(vector(series("d1", "1"), series("d1", "1"))),
        says(vector(series("d1", "+Inf"))),
        says(vector(series("d1", "-Inf"))),
        says(vector(series("d1", "-5"))),
        says(vector(series("d1", "NaN"))),
        says(vector(series("d1", "much"))),
        says(vector(series("d1", "1", None))),
        says(vector(series("d1", "1", NOW - 61))),
        says(vector(series("d1", "1", label="another"))),
        cuts_off,
        resets,
        is_silent,
        drips_body,
    ],
)
def test_a_failed_query_holds_as_metrics_unavailable(reply: Reply) -> None:
    with scripted(lambda _asked: reply) as server:
        answer = read(server.url, timeout_seconds=1)
    decision = decided(answer.readings["d1"])
    assert (decision.gate, decision.desired, decision.add, decision.stop) == (Gate.METRICS_UNAVAILABLE, 4, 0, ())


def test_an_unreachable_server_holds_as_prometheus_down() -> None:
    decision = decided(read(f"http://127.0.0.1:{free_port()}").readings["d1"])
    assert (decision.gate, decision.desired, decision.add, decision.stop) == (Gate.PROMETHEUS_DOWN, 4, 0, ())


@pytest.mark.parametrize("lost_p95", [True, False])
def test_with_one_metric_lost_the_other_may_raise_and_never_lower(lost_p95: bool) -> None:
    def losing(calm: bool) -> Callable[[Asked], Reply]:
        def answer(asked: Asked) -> Reply:
            good = says(vector(series("d1", "1" if calm else "800")))
            return refuses(500) if asked.is_p95 is lost_p95 else good

        return answer

    with scripted(losing(calm=True)) as server:
        assert decided(read(server.url).readings["d1"]).stop == ()
        server.answer = losing(calm=False)
        assert decided(read(server.url).readings["d1"]).add > 0


@pytest.mark.parametrize("warned", ["p95", "rps", "both"])
def test_warnings_on_either_metric_hold_back_a_removal(warned: str) -> None:
    p95, rps = (
        dict(body) | ({"warnings": ["a store is gone"]} if warned in (name, "both") else {})
        for name, body in (("p95", CALM), ("rps", IDLE))
    )
    with scripted(both(p95, rps)) as server:
        assert decided(read(server.url).readings["d1"]).stop == ()


def test_warnings_hold_back_no_addition() -> None:
    with scripted(both(CALM, BUSY | {"warnings": ["a store is gone"]})) as server:
        assert decided(read(server.url).readings["d1"]).add == 4


def test_infos_hold_back_nothing() -> None:
    with scripted(both(CALM, IDLE | {"infos": ["a remark"]})) as server:
        assert decided(read(server.url).readings["d1"]).stop == ("r1",)


def test_idle_by_nan_follows_the_rate() -> None:
    with scripted(both(vector(series("d1", "NaN")), IDLE)) as server:
        reading = read(server.url).readings["d1"]
    assert decided(reading).stop == ("r1",)
    assert decided(reading, target_rps=None).stop == ()
