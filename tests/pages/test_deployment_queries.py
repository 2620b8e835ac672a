"""Pages of deployments ask the database the same number of questions, however many there are."""

from collections.abc import Callable
from datetime import datetime

import pytest
from django.test import Client

from scaling.testing import sample_deployments as sample
from scaling.testing.sample_deployments import Scene
from tests.pages.test_queries import count

pytestmark = pytest.mark.django_db
# The most questions a page may ask, sign-in and frame included.
PAGES = {
    "/": 30,
    "/deployments/": 22,
    "/deployments/chat-large/": 31,
    "/deployments/chat-large/series": 8,
    "/deployments/chat-large/pause/": 12,
    "/deployments/chat-large/scale/?replicas=2": 13,
    "/deployments/chat-large/edit/": 12,
}


def test_no_page_asks_more_of_a_larger_fleet(now: datetime, sign_in: Callable[[str], Client]) -> None:
    rows = sample.fleet(now, 18)
    client = sign_in("admin")
    asked = {path: count(client, path) for path in PAGES}
    for path, (number, queries) in asked.items():
        assert number <= PAGES[path], (path, number, *queries)
    for number in range(40):
        sample.tick(sample.make_deployment(f"more-{number}", now), now, Scene(healthy=4, p95=800))
        sample.tick(rows[0], now, Scene(healthy=6, p95=900))
    sample.make_samples(rows[0], now)
    for path in PAGES:
        number, queries = count(client, path)
        assert number <= asked[path][0], (path, asked[path][0], number, *queries)


def test_the_list_leaves_what_it_does_not_show(now: datetime, sign_in: Callable[[str], Client]) -> None:
    sample.fleet(now, 20)
    queries = " ".join(count(sign_in("viewer"), "/deployments/")[1])
    assert '"scaling_scaler"."replicas"' not in queries and '"scaling_scaler"."memory"' not in queries
