"""What each role is shown; tests/web/expectations.py holds who may see and do what at every address."""

from collections.abc import Callable
from datetime import datetime

import pytest
from django.test import Client

from iris_web.access import ANONYMOUS_PATHS, is_anonymous_path
from scaling.models import Group
from scaling.testing import builders, sample_deployments

SignIn = Callable[[str], Client]


@pytest.fixture
def rows(group: Group, now: datetime) -> dict[str, object]:
    """One of everything, and the keys that addresses need."""
    from scaling.models import QuotaPool

    builders.make_slice(group, now, name="s-1")
    builders.make_job(now, "j-1")
    sample_deployments.make_deployment("d-1", now)
    marker = builders.make_marker(group, now)
    action = builders.make_action("scale_up", now, group=group.name)
    pool = QuotaPool.objects.create(name="p", limit=8, learned_limit=4, learned_at=now)
    return {"marker": marker.pk, "action": action.pk, "platform": group.platform.pk, "pool": pool.pk, "group": group.pk}


def test_what_a_viewer_may_not_do_is_not_drawn(rows: dict[str, object], sign_in: SignIn) -> None:
    viewer = sign_in("viewer").get("/groups/tpu-v5-8/").content.decode()
    operator = sign_in("operator").get("/groups/tpu-v5-8/").content.decode()
    admin = sign_in("admin").get("/groups/tpu-v5-8/").content.decode()
    for act in ("drain/", "pause/", "acknowledge/", "clear/", "limits/"):
        assert f'{act}"' not in viewer
    assert 'drain/"' in operator and 'limits/"' not in operator
    assert 'limits/"' in admin


def test_acts_need_the_token_of_the_form(rows: dict[str, object], people: dict[str, object]) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people["admin"])  # type: ignore[arg-type]
    answer = client.post("/groups/tpu-v5-8/drain/", {"confirm": "tpu-v5-8"})
    assert answer.status_code == 403
    assert b"too old to be sent" in answer.content
    assert Group.objects.get().drain_since is None


def test_only_addresses_without_data_are_open() -> None:
    assert [path for path in ANONYMOUS_PATHS if path in ("/", "/groups/", "/admin/")] == []
    assert is_anonymous_path("/login/") and is_anonymous_path("/healthz")
    assert not is_anonymous_path("/healthzed") and not is_anonymous_path("/login")


@pytest.mark.parametrize("path", ["/groups/a%00b/", "/demand/demo:%00/", "/slices/%00/"])
def test_a_name_that_no_database_takes_is_a_plain_404(sign_in: SignIn, path: str) -> None:
    assert sign_in("viewer").get(path).status_code == 404
