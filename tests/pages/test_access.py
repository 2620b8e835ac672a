"""Who may see and do what: every address with every kind of visitor."""

from collections.abc import Callable
from datetime import datetime

import pytest
from django.test import Client
from django.urls import URLPattern, get_resolver

from iris_web.access import ANONYMOUS_PATHS, Act, Role, is_anonymous_path, may
from scaling.models import Action, Group
from scaling.testing import builders, sample_deployments

SignIn = Callable[[str], Client]

# Path and the act it asks for; `{marker}` and so on stand for rows made by the fixture.
PAGES = [
    "/", "/groups/", "/groups/tpu-v5-8/", "/slices/s-1/", "/demand/", "/demand/demo:j-1/", "/stockouts/", "/actions/",
    "/actions/{action}/", "/deployments/", "/deployments/d-1/", "/deployments/d-1/series", "/settings/",
]  # fmt: skip
ACTS = {
    "/groups/tpu-v5-8/drain/": Act.DRAIN,
    "/groups/tpu-v5-8/undrain/": Act.DRAIN,
    "/groups/tpu-v5-8/pause/": Act.PAUSE,
    "/groups/tpu-v5-8/resume/": Act.PAUSE,
    "/groups/tpu-v5-8/limits/": Act.SET_LIMITS,
    "/slices/s-1/drain/": Act.DRAIN,
    "/slices/s-1/undrain/": Act.DRAIN,
    "/stockouts/{marker}/acknowledge/": Act.ACKNOWLEDGE,
    "/stockouts/{marker}/clear/": Act.CLEAR_MARKER,
    "/stockouts/{marker}/hold/": Act.CLEAR_MARKER,
    "/deployments/absent/forget/": Act.SCALE,
    "/deployments/d-1/pause/": Act.PAUSE,
    "/deployments/d-1/resume/": Act.PAUSE,
    "/deployments/d-1/scale/": Act.SCALE,
    "/deployments/d-1/scale/?replicas=2": Act.SCALE,
    "/deployments/d-1/wake/": Act.SCALE,
    "/deployments/d-1/edit/": Act.SET_LIMITS,
    "/settings/halt/": Act.HALT,
    "/settings/unhalt/": Act.HALT,
    "/settings/platforms/{platform}/observe/": Act.SET_PLATFORM_MODE,
    "/pools/{pool}/forget/": Act.SET_QUOTA,
}
ADMIN = [
    "/admin/", "/admin/scaling/group/", "/admin/scaling/group/{group}/change/", "/admin/scaling/quotapool/",
    "/admin/scaling/apitoken/", "/admin/scaling/apitoken/add/", "/admin/auth/user/", "/admin/auth/user/add/",
]  # fmt: skip


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


@pytest.mark.parametrize("path", PAGES)
def test_every_role_reads_every_page(path: str, rows: dict[str, object], sign_in: SignIn) -> None:
    for role in Role:
        assert sign_in(role).get(path.format(**rows)).status_code == 200, role


@pytest.mark.parametrize("path", [*PAGES, *ACTS, *ADMIN])
def test_without_a_login_every_page_leads_to_the_login(path: str, rows: dict[str, object]) -> None:
    address = path.format(**rows)
    for answer in (Client().get(address), Client().post(address, {"reason": "x"})):
        assert answer.status_code == 302
        assert answer["Location"].startswith("/login/?next=")
        assert b"tpu-v5-8" not in answer.content


@pytest.mark.parametrize("path", [*PAGES, *ACTS, *ADMIN])
def test_someone_without_a_role_sees_nothing(path: str, rows: dict[str, object], sign_in: SignIn) -> None:
    answer = sign_in("outsider").get(path.format(**rows), follow=True)
    assert answer.status_code == 403
    assert b"You have no role yet" in answer.content
    assert b"tpu-v5-8" not in answer.content


@pytest.mark.parametrize("path", ACTS)
def test_an_act_is_refused_to_those_who_may_not(path: str, rows: dict[str, object], sign_in: SignIn) -> None:
    address, before = path.format(**rows), Action.objects.count()
    for role in Role:
        client, expected = sign_in(role), 200 if may(role, ACTS[path]) else 403
        assert client.get(address).status_code == expected, role
        if expected == 403:
            assert client.post(address, {"reason": "x", "note": "x", "confirm": "tpu-v5-8"}).status_code == 403
    assert Action.objects.count() == before


@pytest.mark.parametrize("path", ADMIN)
def test_the_admin_is_for_admins(path: str, rows: dict[str, object], sign_in: SignIn) -> None:
    for role in Role:
        answer = sign_in(role).get(path.format(**rows), follow=True)
        assert answer.status_code == (200 if role is Role.ADMIN else 403), role


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


def test_every_address_of_the_site_is_in_these_tables() -> None:
    tested = {path.split("{")[0].split("tpu-v5-8")[0] for path in [*PAGES, *ACTS]}
    for pattern in get_resolver().url_patterns:
        if not isinstance(pattern, URLPattern):
            continue
        address = "/" + str(pattern.pattern).split("<")[0]
        known = address.startswith(ANONYMOUS_PATHS) or address in ("/logout/", "/admin/logout/")
        assert known or address in tested or any(path.startswith(address) for path in ACTS), address


@pytest.mark.parametrize("path", ["/groups/a%00b/", "/demand/demo:%00/", "/slices/%00/"])
def test_a_name_that_no_database_takes_is_a_plain_404(sign_in: SignIn, path: str) -> None:
    assert sign_in("viewer").get(path).status_code == 404
