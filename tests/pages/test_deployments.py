"""The list of deployments: states, filters, orders, pages by key, and the banners over it."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.test import Client

from iris_web.pages import deployment_paging, deployments
from iris_web.pages.deployment_conditions import CONDITIONS, there
from scaling.models import Deployment, Scaler
from scaling.testing import builders
from scaling.testing import sample_deployments as sample
from scaling.testing.sample_deployments import Scene, make_deployment, make_scaler, make_source, tick
from tests.pages.conftest import Get

pytestmark = pytest.mark.django_db
SignIn = Callable[[str], Client]


def rows_of(page: str) -> list[str]:
    """The ids of the deployments in the order of the page."""
    return re.findall(r'data-row[^>]*>\s*<th scope="row"><a href="/deployments/([^/"]+)/"', page)


def row_of(text: str, name: str, until: str) -> str:
    """What a row says, from a name to the name of the next."""
    return text.split(f" {name} ", 1)[1].split(f" {until} ", 1)[0]


def test_a_row_tells_load_against_target_replicas_and_what_holds_it(now: datetime, see: Get) -> None:
    tick(make_deployment("a-busy", now, name=""), now, Scene(healthy=5, warming=2, p95=640, rps=61, scaled_ago=40))
    tick(make_deployment("b-quiet", now, name=""), now, Scene(healthy=4, p95=450, rps=36))
    text = see("/deployments/")
    told = row_of(text, "a-busy", "b-quiet")
    assert "scaling up 640 ms of 500 over target 12.2/s of 10 over target" in told
    assert "5 healthy, 2 warming of 1–10 7 cooling down for 1 min 20 s" in told
    assert "on target 450 ms of 500 9/s of 10 4 healthy of 1–10 4 nothing none" in text


def test_the_last_change_is_told_with_its_action(now: datetime, sign_in: SignIn) -> None:
    row = make_deployment("chat", now)
    action = builders.make_action("scale_replicas", now, target="deployment chat")
    decision = tick(row, builders.before(now, 90), Scene(healthy=4, p95=800, rps=44))
    decision.action_id = action.pk
    decision.save()
    tick(row, now, Scene(healthy=4, warming=3, p95=800, rps=44, scaled_ago=90))
    page = sign_in("viewer").get("/deployments/").content.decode()
    assert f'<a href="/actions/{action.pk}/"><b>+3</b>' in page
    assert "1 min 30 s</time> ago" in page


def test_a_change_of_days_ago_is_not_looked_for(now: datetime, see: Get) -> None:
    row = make_deployment("chat", now)
    tick(row, builders.before(now, 200_000), Scene(healthy=4, p95=800, rps=44))
    assert see("/deployments/").endswith("1 of 1 deployment") or "none" in see("/deployments/")


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("over", {"chat-large", "chat-small", "rerank"}),
        ("held", {"draft-model", "embed-multi", "paused-both", "whisper"}),
        ("up", {"chat-large", "chat-small"}),
        ("down", {"embed-en"}),
        ("zero", {"translate", "held-at-zero"}),
        ("paused", {"paused-both", "paused-down"}),
        ("unassigned", {"left-over"}),
        ("not_listed", {"not-listed"}),
    ],
)
def test_each_state_is_a_filter_and_its_tab_counts_it(
    now: datetime, sign_in: SignIn, state: str, expected: set[str]
) -> None:
    sample.fleet(now)
    client = sign_in("viewer")
    assert set(rows_of(client.get(f"/deployments/?state={state}").content.decode())) == expected
    everything = client.get("/deployments/").content.decode()
    assert f'state={state}"><b>{len(expected)}</b> {CONDITIONS[state]}</a>' in everything


def test_search_finds_names_and_ids(now: datetime, sign_in: SignIn) -> None:
    make_deployment("7f3a", now, name="Chat, large")
    make_deployment("chat-small", now, name="")
    make_deployment("embed", now)
    make_deployment("9c", now, name="Übersetzer (v2)")
    client = sign_in("viewer")
    assert rows_of(client.get("/deployments/?q=CHAT").content.decode()) == ["7f3a", "chat-small"]
    assert rows_of(client.get("/deployments/?q=über").content.decode()) == ["9c"]
    assert rows_of(client.get("/deployments/?q=(V2)").content.decode()) == ["9c"]
    assert rows_of(client.get("/deployments/?q=.*").content.decode()) == []


def test_a_value_that_cannot_be_meant_is_said_and_left_out(now: datetime, see: Get) -> None:
    make_deployment("chat", now)
    text = see("/deployments/?state=happy&sort=colour")
    assert "State: there is no “happy”; expected one of over, held" in text
    assert "1 of 1 deployment" in text


def test_names_are_in_their_natural_order(now: datetime, sign_in: SignIn) -> None:
    for name in ("m-10", "m-9", "m-2"):
        make_deployment(name, now)
    client = sign_in("viewer")
    assert rows_of(client.get("/deployments/").content.decode()) == ["m-2", "m-9", "m-10"]
    assert rows_of(client.get("/deployments/?sort=-name").content.decode()) == ["m-10", "m-9", "m-2"]


def test_by_latency_the_worst_is_first_and_what_is_unknown_last(now: datetime, sign_in: SignIn) -> None:
    for name, p95 in (("a", 300.0), ("b", None), ("c", 900.0)):
        tick(make_deployment(name, now), now, Scene(p95=p95))
    client = sign_in("viewer")
    assert rows_of(client.get("/deployments/?sort=-latency").content.decode()) == ["c", "a", "b"]
    assert rows_of(client.get("/deployments/?sort=latency").content.decode()) == ["a", "c", "b"]


@pytest.mark.parametrize("sort", [f"{sign}{key}" for key, _ in deployments.SORTS for sign in ("", "-")])
def test_pages_by_key_show_each_once_in_either_direction(now: datetime, sort: str) -> None:
    sample.fleet(now)
    whole = deployment_paging.page_of(there(), now, sort, 100).keys
    forth: list[int] = []
    page = deployment_paging.page_of(there(), now, sort, 7)
    while True:
        forth += page.keys
        if not page.after:
            break
        page = deployment_paging.page_of(there(), now, sort, 7, after=page.after)
    back = list(page.keys)
    while page.before:
        page = deployment_paging.page_of(there(), now, sort, 7, before=page.before)
        back = page.keys + back
    assert forth == back == whole and len(whole) == 40


def test_a_page_goes_on_behind_a_row_that_has_gone(now: datetime) -> None:
    made = {name: make_deployment(name, now).pk for name in "abcdef"}
    first = deployment_paging.page_of(there(), now, "name", 2)
    Deployment.objects.filter(deployment_id__in="ab").update(gone_at=now)
    second = deployment_paging.page_of(there(), now, "name", 2, after=first.after)
    assert second.keys == [made["c"], made["d"]]


@pytest.mark.parametrize("cursor", ["x", "W10", "WzAsMCwiYSIsMV0", "e30", "WzAsbnVsbCwiYSJd", "WzAsW10sMV0", "é"])
def test_a_cursor_nobody_made_is_the_first_page(now: datetime, see: Get, cursor: str) -> None:
    make_deployment("chat", now)
    for sort in ("name", "-latency", "state"):
        assert "1 of 1 deployment" in see(f"/deployments/?sort={sort}&after={cursor}")
        assert "1 of 1 deployment" in see(f"/deployments/?sort={sort}&before={cursor}")


def test_the_second_page_is_a_link(now: datetime, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deployments, "PAGE_SIZE", 3)
    for number in range(5):
        make_deployment(f"m-{number}", now)
    client = sign_in("viewer")
    page = client.get("/deployments/?q=m").content.decode()
    link = re.search(r'rel="next" href="(\?[^"]+)"', page)
    assert link is not None
    second = client.get(f"/deployments/{link[1].replace('&amp;', '&')}").content.decode()
    assert rows_of(second) == ["m-3", "m-4"]
    assert 'rel="prev"' in second


def test_one_that_is_gone_is_not_in_the_list(now: datetime, see: Get) -> None:
    make_deployment("was-here", now, gone_at=now)
    assert "was-here" not in see("/deployments/")


def test_an_unassigned_one_is_shown_with_the_remedy(now: datetime, see: Get) -> None:
    sample.make_instance(now, max_deployments=10)
    make_scaler(make_deployment("held", now), now)
    make_scaler(make_deployment("lapsed", now), now, expires_at=now - timedelta(minutes=1))
    make_deployment("never-taken", now)
    text = see("/deployments/")
    assert "2 deployments without a scaler" in text
    assert "No free scaler: raise LYC_MAX_DEPLOYMENTS or start another instance. 1 instance can take 10." in text
    assert text.count("no free scaler raise LYC_MAX_DEPLOYMENTS or start another instance") == 2


def test_without_any_instance_that_is_what_is_said(now: datetime, see: Get) -> None:
    make_deployment("chat", now)
    assert "No instance scales" in see("/deployments/")


def test_trouble_of_the_gateway_is_told_with_what_it_holds(now: datetime, see: Get) -> None:
    make_source("gateway", now, "the list was cut off in the middle")
    tick(make_deployment("chat", now), now, Scene(listed=False))
    text = see("/deployments/")
    assert "The Gateway does not answer well for 4 min the list was cut off in the middle." in text
    assert "Nothing is removed on doubt. Held because of it: 1 deployment whose replicas cannot be read." in text


def test_a_list_that_is_doubted_is_told_with_the_reason(now: datetime, see: Get) -> None:
    make_source("gateway", now, warnings=["40 of 40 deployments are missing from it"])
    assert "The Gateway's list is doubted 40 of 40 deployments are missing from it." in see("/deployments/")


def test_trouble_of_prometheus_is_told_with_what_goes_on(now: datetime, see: Get) -> None:
    make_source("prometheus", now, "HTTP 503")
    tick(make_deployment("chat", now), now, Scene(prometheus_down=True))
    text = see("/deployments/")
    assert "Prometheus does not answer well for 4 min HTTP 503. Held because of it: scaling by load" in text
    assert "of 1 deployment. Minimum, maximum and failed replicas go on." in text
    assert "Prometheus away" in text


def test_warnings_of_prometheus_are_told(now: datetime, see: Get) -> None:
    make_source("prometheus", now, warnings=["some samples were left out"])
    assert "Prometheus answers with warnings some samples were left out." in " ".join(
        see("/deployments/").split()
    ).replace(" for 2 h", "")


def test_missing_metrics_are_said_loudly_with_since_when(now: datetime, sign_in: SignIn, see: Get) -> None:
    for name, seconds in (("a", 600), ("b", 90)):
        tick(make_deployment(name, now), now, Scene(p95=None, rps=None, missing_for=seconds))
    assert "Metrics are missing for 2 deployments for 10 min" in see("/deployments/")
    page = sign_in("viewer").get("/deployments/").content.decode()
    assert re.search(r'<div class="banner tone-bad" id="source-missing" role="alert">', page)


def test_the_stand_in_is_labelled_as_what_it_is(now: datetime, see: Get) -> None:
    make_source("prometheus", now, stand_in="Iris")
    make_deployment("chat", now)
    label = "stand-in for Prometheus: figures come from Iris's own demonstration fleet"
    assert label in see("/deployments/") and label in see("/deployments/chat/")


def test_absent_ones_are_shown_and_only_who_may_is_offered_to_forget_them(now: datetime, see: Get) -> None:
    make_deployment("lost", now, absent_since=builders.before(now, 900))
    assert "No longer listed" in see("/deployments/")
    assert "lost for 15 min" in see("/deployments/")
    assert "Forget them" not in see("/deployments/", "viewer")
    assert "Forget them" in see("/deployments/", "operator")


def test_without_a_gateway_the_page_says_how_to_name_one(see: Get, db: None) -> None:
    text = see("/deployments/")
    assert "No Gateway is configured" in text
    assert "Set API_BASE_URL to its address and DEPLOYMENT_SCALER_SERVICE_TOKEN to its token" in text


def test_with_a_gateway_that_lists_nothing_it_says_that(see: Get, db: None, gateway: None) -> None:
    assert "No deployments yet The Gateway lists none." in see("/deployments/")


def test_nothing_found_is_another_thing_than_nothing_there(now: datetime, see: Get) -> None:
    make_deployment("chat", now)
    assert "No deployment is like that" in see("/deployments/?q=zebra")


def test_figures_of_a_scaler_that_stopped_ticking_are_called_old(now: datetime, see: Get) -> None:
    row = make_deployment("chat", now)
    tick(row, now, Scene())
    Scaler.objects.update(ticked_at=builders.before(now, 200))
    assert "as of 3 min 20 s ago" in see("/deployments/")
    assert "Stale: no tick for 3 min 20 s" in see("/deployments/chat/")


def test_the_loops_silence_is_told(now: datetime, see: Get, gateway: None) -> None:
    make_source("gateway", now, asked_at=builders.before(now, 400))
    make_deployment("chat", now)
    assert "The Gateway has not been asked for 6 min 40 s" in see("/deployments/")


def test_an_id_with_a_slash_and_markup_is_only_text(now: datetime, sign_in: SignIn) -> None:
    make_deployment("team/<b>chat</b>", now, name="<i>x</i>")
    client = sign_in("admin")
    page = client.get("/deployments/").content.decode()
    assert "<i>x</i>" not in page and "&lt;i&gt;x" in page
    link = re.search(r'href="(/deployments/team[^"]+/)"', page)
    assert link is not None
    for path in ("", "pause/", "scale/", "scale/?replicas=2", "edit/", "series"):
        answer = client.get(link[1] + path)
        assert answer.status_code == 200, path
        assert "<b>chat</b>" not in answer.content.decode()


def test_the_overview_counts_what_wants_for_something(now: datetime, see: Get) -> None:
    sample.fleet(now)
    make_source("gateway", now, "HTTP 401: DEPLOYMENT_SCALER_SERVICE_TOKEN is refused")
    text = see("/")
    assert "Deployments 40 All 3 over target 4 held by a gate 1 no scaler 1 not listed 2 paused 2 at zero" in text
    assert "The Gateway for 4 min: HTTP 401: DEPLOYMENT_SCALER_SERVICE_TOKEN is refused" in text


def test_the_overview_without_a_gateway_says_so_in_a_line(see: Get, db: None) -> None:
    assert "No Gateway is configured. How to" in see("/")
