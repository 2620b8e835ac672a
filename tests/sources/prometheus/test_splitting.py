"""A refused query is asked in halves, so that what one deployment breaks is missing for it alone."""

import re
import time

import pytest

from scaling.sources.prometheus import MetricsAnswer, PrometheusSettings
from scaling.sources.prometheus.errors import PrometheusRefused, PrometheusUnreachable
from scaling.sources.prometheus.grouped import ask_grouped
from scaling.sources.prometheus.payload import Payload
from scaling.sources.prometheus.queries import rps_query
from tests.sources.prometheus.support import (
    Asked,
    Reply,
    ids,
    is_silent,
    read,
    refuses,
    says,
    scripted,
    series,
    vector,
)


class Fleet:
    """Answers for the ids a query names; refuses any query that touches a bad one, and the whole."""

    def __init__(self, count: int, bad: set[str], status: int = 422) -> None:
        self.ids, self.bad, self.status = ids(count), bad, status

    def answer(self, asked: Asked) -> Reply:
        named = self.ids if asked.is_whole else self.named(asked.query)
        if self.bad & set(named):
            return refuses(self.status)
        return says(vector(*(series(each, "7") for each in named)))

    @staticmethod
    def named(query: str) -> list[str]:
        found = re.search(r'deployment_id=~?"([^"]*)"', query)
        assert found
        return found[1].split("|")


def known(answer: MetricsAnswer) -> set[str]:
    return {each for each, reading in answer.readings.items() if reading.rps.value == 7 and reading.p95.value == 7}


@pytest.mark.parametrize("status", [400, 413, 422, 500, 502, 503, 504])
def test_one_bad_deployment_is_missing_alone(status: int) -> None:
    with scripted(Fleet(40, {"d17"}, status).answer) as server:
        answer = read(server.url, ids(40))
    assert known(answer) == set(ids(40)) - {"d17"}
    assert answer.readings["d17"].rps.error == f"Prometheus answered with HTTP {status}: bad no such thing."
    assert answer.error == f"deployment d17: Prometheus answered with HTTP {status}: bad no such thing."
    assert not answer.down
    assert answer.queries == len(server.asked) <= 2 * 13


def test_several_bad_ones_are_missing_alone() -> None:
    bad = {"d1", "d40", "d41", "d99"}
    with scripted(Fleet(100, bad).answer) as server:
        answer = read(server.url, ids(100))
    assert known(answer) == set(ids(100)) - bad


def test_a_limit_on_the_size_of_a_query_costs_nothing_but_queries() -> None:
    def answer(asked: Asked) -> Reply:
        named = ids(64) if asked.is_whole else Fleet.named(asked.query)
        return refuses(422, "too many samples") if len(named) > 10 else says(vector(*(series(n, "7") for n in named)))

    with scripted(answer) as server:
        got = read(server.url, ids(64))
    assert known(got) == set(ids(64))
    assert got.error == ""
    assert got.warnings == (
        "The whole was refused and asked for in 14 parts: Prometheus answered with HTTP 422: bad too many samples.",
    )


def test_a_single_deployment_is_asked_for_by_its_id_when_the_whole_is_refused() -> None:
    with scripted(lambda asked: refuses(422) if asked.is_whole else says(vector(series("d1", "7")))) as server:
        answer = read(server.url)
    assert known(answer) == {"d1"}
    assert answer.queries == 4


def test_a_server_that_refuses_everything_is_not_flooded() -> None:
    with scripted(lambda _asked: refuses(503)) as server:
        answer = read(server.url, ids(1000))
    assert len(server.asked) == answer.queries == 2 * 31
    assert known(answer) == set()
    assert not answer.down
    assert "given up after 31 refused queries" in answer.readings["d1000"].p95.error


def test_many_bad_ones_end_the_halving_and_the_rest_is_missing() -> None:
    bad = {f"d{number}" for number in range(1, 500, 5)}
    with scripted(Fleet(1000, bad).answer) as server:
        answer = read(server.url, ids(1000))
    assert len(server.asked) <= 2 * 2 * 64
    assert set(ids(1000)[500:]) <= known(answer) <= set(ids(1000)) - bad
    assert all(answer.readings[each].rps.error for each in set(ids(1000)) - known(answer))


@pytest.mark.parametrize("status", [401, 403, 404, 405, 429, 302, 204])
def test_a_refusal_that_comes_whatever_is_asked_is_not_split(status: int) -> None:
    with scripted(lambda _asked: refuses(status) if status != 204 else says(b"", 204)) as server:
        answer = read(server.url, ids(50))
    assert len(server.asked) == 2
    assert f"HTTP {status}" in answer.error
    assert not answer.down


def test_an_error_with_status_200_is_not_split() -> None:
    with scripted(lambda _asked: refuses(200)) as server:
        answer = read(server.url, ids(50))
    assert len(server.asked) == 2
    assert "HTTP 200 and an error: bad no such thing" in answer.error


def test_halving_ends_at_the_deadline() -> None:
    def answer(asked: Asked) -> Reply:
        time.sleep(0.5)
        return Fleet(64, {"d17"}).answer(asked)

    with scripted(answer) as server:
        got = read(server.url, ids(64), deadline=5)
        assert len(server.asked) < 2 * 13, "to find d17 in both metrics takes 13 for each"
    assert set(ids(64)[32:]) <= known(got)
    assert got.readings["d17"].rps.error


def test_a_part_that_hangs_is_missing_and_does_not_take_the_others_time() -> None:
    def answer(asked: Asked) -> Reply:
        if asked.is_whole:
            return refuses(503)
        named = Fleet.named(asked.query)
        return is_silent if "d1" in named else says(vector(*(series(each, "7") for each in named)))

    with scripted(answer) as server:
        got = read(server.url, ids(4), deadline=20, timeout_seconds=1)
    assert known(got) == {"d3", "d4"}
    assert "no whole answer in time" in got.readings["d2"].rps.error


def test_only_the_metric_that_is_refused_is_split() -> None:
    def answer(asked: Asked) -> Reply:
        return Fleet(8, {"d3"}).answer(asked) if asked.is_p95 else says(vector(*(series(each, "7") for each in ids(8))))

    with scripted(answer) as server:
        got = read(server.url, ids(8))
    assert sum(not asked.is_p95 for asked in server.asked) == 1
    assert got.readings["d3"].rps.value == 7
    assert got.readings["d3"].p95.error
    assert got.error.startswith("p95: deployment d3: ")


def test_a_query_too_long_for_a_url_is_posted() -> None:
    long = [f"{'x' * 60}.{number}" for number in range(200)]

    def answer(asked: Asked) -> Reply:
        return refuses(422) if asked.is_whole else says(vector(*(series(each, "7") for each in long)))

    with scripted(answer) as server:
        got = read(server.url, long)
    assert known(got) == set(long)
    posted = [asked for asked in server.asked if asked.method == "POST"]
    assert len(posted) == 4
    assert all("timeout" in asked.parameters for asked in posted)


def test_parts_that_find_no_server_any_more_are_missing_and_the_rest_is_not_asked_for() -> None:
    answers = iter([PrometheusRefused("HTTP 503.", 503), PrometheusUnreachable("Nobody listens.")])

    def ask(_query: str) -> Payload:
        raise next(answers)

    got = ask_grouped(ask, rps_query(PrometheusSettings("http://prometheus")), ids(4))
    assert got.queries == 2
    assert [got.samples[each].error for each in ids(4)] == [
        *["Nobody listens."] * 2,
        *["HTTP 503. (given up after a refused query)"] * 2,
    ]
