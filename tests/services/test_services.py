"""The throwaway services that the other tests stand on."""

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.request import urlopen

import psycopg
import pytest
from redis import Redis

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.mark.postgres
def test_each_test_gets_an_empty_postgresql_database(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    assert tables == (0,)


@pytest.mark.redis
def test_redis_starts_empty(redis_url: str) -> None:
    with Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0


@pytest.mark.prometheus
def test_prometheus_is_told_what_to_scrape(prometheus_url: Callable[..., str]) -> None:
    with urlopen(f"{prometheus_url('127.0.0.1:9')}/api/v1/status/config") as answer:
        assert b"127.0.0.1:9" in answer.read()


@pytest.mark.browser
def test_chromium_runs_scripts(chromium_page: "Page") -> None:
    chromium_page.set_content("<p id=p></p><script>p.textContent = 6 * 7</script>")
    assert chromium_page.text_content("#p") == "42"
