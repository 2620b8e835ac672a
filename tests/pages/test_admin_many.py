"""Acts on more rows than a request may have fields, as a browser sends them; and the locks of those saved together."""

import re
from collections.abc import Callable
from datetime import datetime
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from scaling.admin import base
from scaling.admin.base import named
from scaling.models import Action, Deployment, Group, QuotaPool
from scaling.testing import builders
from scaling.testing.sample_deployments import make_deployment
from tests.pages.conftest import words_of

ROWS = 12
# The form of limits has a field for each of them.
FIELDS_OF_LIMITS = 40
GROUPS, DEPLOYMENTS = "/admin/scaling/group/", "/admin/scaling/deployment/"


@pytest.fixture
def client(db: None, sign_in: Callable[[str], Client], settings: Any) -> Client:
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = ROWS
    return sign_in("admin")


@pytest.fixture
def groups(client: Client) -> list[Group]:
    return [builders.make_group(f"g-{n:02}", max_slices=8) for n in range(ROWS)]


class Browser:
    """Chooses all rows of a list and goes on with the form that each page shows."""

    def __init__(self, client: Client, path: str, action: str) -> None:
        self._client, self._path = client, path
        self._go({"action": action, "_selected_action": ["1"], "select_across": "1", "index": "0"})

    def send(self, **written: str) -> str:
        return self._go(self._shown | written)

    def _go(self, fields: dict[str, Any]) -> str:
        answer = self._client.post(self._path, fields, follow=True)
        page = answer.content.decode()
        assert answer.status_code == 200, words_of(page)
        inputs = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page)
        self._shown: dict[str, Any] = {name: unescape(value) for name, value in inputs}
        return words_of(page)


def test_more_groups_than_fields_are_paused_together(client: Client, groups: list[Group]) -> None:
    told = Browser(client, GROUPS, "pause").send(reason="everything")
    assert "Paused: g-00, g-01" in told
    assert Group.objects.filter(pause_since__isnull=False, version=2).count() == ROWS
    assert Action.objects.filter(kind="pause", reason="everything").count() == ROWS


def test_more_deployments_than_fields_are_paused_together(client: Client, now: datetime) -> None:
    for n in range(ROWS):
        make_deployment(f"d-{n:02}", now)
    Browser(client, DEPLOYMENTS, "pause").send(reason="everything", direction="up")
    assert Deployment.objects.filter(pause_direction="up").count() == ROWS


@pytest.mark.parametrize(("action", "limit"), [("pause", "MOST_ROWS"), ("edit_limits", "MOST_TOGETHER")])
def test_of_more_rows_than_an_act_takes_none_is_touched(
    action: str, limit: str, client: Client, groups: list[Group], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, limit, ROWS - 1)
    for chosen in (
        {"_selected_action": ["1"], "select_across": "1"},
        {"chosen": " ".join(f"{group.pk}:1" for group in groups), "confirm": "1", "step": "save", "max_slices": "9"},
    ):
        answer = client.post(f"{GROUPS}?q=g-", {"action": action, "index": "0", **chosen}, follow=True)
        sentence = f"Nothing was done: {ROWS} groups are chosen, and this act takes at most {ROWS - 1} at once. Narrow"
        assert sentence in words_of(answer.content.decode()) and answer.redirect_chain == [(f"{GROUPS}?q=g-", 302)]
    assert not Action.objects.exists()


def test_limits_of_more_groups_than_fields_are_reviewed_and_saved(
    client: Client, groups: list[Group], settings: Any
) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = FIELDS_OF_LIMITS
    browser = Browser(client, GROUPS, "edit_limits")
    assert f"Change {ROWS} groups?" in browser.send(max_slices="9", step="review")
    assert "are changed; the next cycle uses them" in browser.send(step="save")
    assert Group.objects.filter(max_slices=9, version=2).count() == ROWS


def test_a_group_that_was_changed_since_its_page_is_refused_among_many(client: Client, groups: list[Group]) -> None:
    browser = Browser(client, GROUPS, "pause")
    Group.objects.filter(pk=groups[3].pk).update(version=5)
    told = browser.send()
    assert "Not done for g-03: group g-03 " in told
    assert Group.objects.filter(pause_since__isnull=False).count() == ROWS - 1


def test_all_groups_are_locked_before_a_pool_and_both_before_the_first_edit(
    client: Client, groups: list[Group], settings: Any
) -> None:
    """One after the other they would be locked group, pool, group: a deadlock with whoever keeps the order."""
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = FIELDS_OF_LIMITS
    QuotaPool.objects.create(name="p", limit=64)
    browser = Browser(client, GROUPS, "edit_limits")
    browser.send(quota_pool="p", step="review")
    with CaptureQueriesContext(connection) as asked:
        browser.send(step="save")
    texts = [one["sql"] for one in asked]
    edited = next(n for n, sql in enumerate(texts) if sql.startswith('UPDATE "scaling_group"'))
    begun = next(
        n
        for n in reversed(range(edited))
        if f"({groups[0].pk}, {groups[1].pk}, " in texts[n] and "marker" not in texts[n]
    )
    tables = [re.findall(r'FROM "scaling_(\w+)"', sql) for sql in texts[begun:edited] if sql.startswith("SELECT")]
    assert tables[:3] == [["group"], ["marker"], ["quotapool"]]
    assert connection.vendor == "sqlite" or all("FOR " in sql for sql in texts[begun : begun + 3])


def test_of_many_names_the_first_are_told_and_how_many_others() -> None:
    assert named(["a", "b"]) == "a, b"
    assert named([f"g{n}" for n in range(1051)]).endswith("g49 and 1,001 others")
