"""The strict Content-Security-Policy, and that no page needs anything it forbids."""

import re
from collections.abc import Callable
from datetime import datetime

import pytest
from django.test import Client

from scaling.models import Group
from scaling.testing import builders, sample_cluster

SignIn = Callable[[str], Client]
INLINE = re.compile(r"<script(?![^>]*\bsrc=)|<style\b|\sstyle\s*=|\son[a-z]+\s*=\s*[\"']|javascript:", re.IGNORECASE)
FOREIGN = re.compile(r"""(?:src|href|action)\s*=\s*["'](?:https?:)?//""", re.IGNORECASE)


def paths(now: datetime) -> list[str]:
    groups = sample_cluster.tpu_cluster(now, jobs=40)
    marker = builders.make_marker(groups[-1], now, kind="backoff")
    return [
        "/", "/groups/", f"/groups/{groups[0].name}/", f"/groups/{groups[0].name}/drain/",
        f"/groups/{groups[0].name}/limits/", "/demand/", "/stockouts/", f"/stockouts/{marker.pk}/acknowledge/",
        "/actions/", "/actions/1/", "/settings/", "/settings/halt/", "/nowhere/", "/admin/", "/admin/scaling/group/",
        f"/admin/scaling/group/{groups[0].pk}/change/", "/admin/scaling/apitoken/add/", "/admin/auth/user/add/",
    ]  # fmt: skip


def test_no_page_has_inline_code_inline_style_or_a_foreign_host(db: None, now: datetime, sign_in: SignIn) -> None:
    client = sign_in("admin")
    for path in [*paths(now), "/login/"]:
        text = client.get(path).content.decode()
        assert not INLINE.search(text), (path, INLINE.search(text))
        assert not FOREIGN.search(text), (path, FOREIGN.search(text))


@pytest.mark.parametrize(
    "path", ["/", "/login/", "/nowhere/", "/groups/tpu-v5-8/", "/static/css/tokens.css", "/healthz"]
)
def test_every_answer_carries_the_policy(path: str, group: Group, sign_in: SignIn) -> None:
    headers = sign_in("viewer").get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy and "style-src 'self'" in policy and "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy and "base-uri 'none'" in policy and "form-action 'self'" in policy
    for forbidden in ("unsafe-inline", "unsafe-eval", "http:", "https:", "*", "ws:"):
        assert forbidden not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]


def test_pages_with_data_are_not_kept_by_caches(group: Group, sign_in: SignIn) -> None:
    client = sign_in("viewer")
    assert client.get("/").headers["Cache-Control"] == "private, no-store"
    assert "no-store" not in client.get("/static/css/tokens.css").headers.get("Cache-Control", "")


def test_the_answer_to_a_stranger_carries_the_policy_too(db: None) -> None:
    assert "script-src 'self'" in Client().get("/groups/").headers["Content-Security-Policy"]
