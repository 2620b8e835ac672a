"""Notices on the settings page: the channels and how they take what is sent, what is told now, and two acts."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect

from iris_web import facts
from iris_web.access import Act, Role, require
from iris_web.live.fragments import Context, Fragment, Params
from iris_web.pages.act_fields import SPANS, FormField, Input, sentence
from iris_web.pages.acts import ActPage, actor_of, run
from iris_web.pages.notice_rows import notice_rows, stockout_of
from scaling import clock, operations
from scaling.models import Notice, NoticeChannel, NoticeDelivery
from scaling.notices.facts import WATCH
from scaling.notices.kinds import CONDITIONS
from scaling.notices.messages import NO_LINKS
from scaling.once import fact
from scaling.operations import NotFound, OperationRefused
from scaling.operations.acknowledging import held_by_another, who

BACK = "/settings/#notices"
OPEN_SHOWN = 50
GIVEN_UP_SHOWN = 5
GIVEN_UP_FOR = timedelta(days=1)
# A watch looks every few seconds.
WATCH_SILENT = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class ChannelRow:
    """A channel and how it took its latest message; `code` is a row of the HEALTH looks."""

    channel: NoticeChannel
    code: str
    told_of: str
    waiting: int


def notices(_params: Params, _role: Role) -> Context:
    """Six queries."""
    now = clock.now()
    still = list(Notice.objects.filter(over_at=None)[:OPEN_SHOWN])
    channels = channel_rows()
    in_use = [row.channel for row in channels if row.channel.enabled]
    waiting = {row.channel.pk for row in channels if row.waiting}
    given_up = NoticeDelivery.objects.filter(
        state=NoticeDelivery.State.GIVEN_UP, finished_at__gt=now - GIVEN_UP_FOR
    ).select_related("channel")
    return {
        "channels": channels,
        "notices": notice_rows(still, in_use, waiting, now),
        "given_up": given_up.order_by("-finished_at")[:GIVEN_UP_SHOWN],
        "looked_at": watched_at(),
    }


def channel_rows() -> list[ChannelRow]:
    """One query."""
    return [ChannelRow(channel, _code(channel), _told_of(channel), channel.waiting) for channel in _channels()]


@fact
def _channels() -> list[Any]:
    """Each with how many messages wait for it."""
    waiting = Count("deliveries", filter=Q(deliveries__state=NoticeDelivery.State.WAITING))
    return list(NoticeChannel.objects.annotate(waiting=waiting))


def _told_of(channel: NoticeChannel) -> str:
    labels = [row.label for kind, row in CONDITIONS.items() if kind in channel.kinds]
    return ", ".join(labels) or "everything"


def watched_at() -> datetime | None:
    """When somebody last looked for news."""
    return next((loop.last_finished_at for loop in facts.loops() if loop.name == WATCH), None)


def _code(channel: NoticeChannel) -> str:
    if not channel.enabled:
        return "off"
    if channel.last_error:
        return "failed"
    return "ok" if channel.last_ok_at else "unused"


FRAGMENT = Fragment("settings.notices", "partials/settings_notices.html", notices, {"notices", "markers", "cycle"})


# -- acts


def test_channel(request: HttpRequest, pk: int) -> HttpResponse:
    """Send a message that says it is a test and tell how it went. Takes as long as the receiver, up to 10 s."""
    require(request, Act.TEST_CHANNEL)
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    channel = NoticeChannel.objects.filter(pk=pk).first()
    if channel is None:
        raise Http404(f"There is no notice channel {pk}.")
    try:
        answer = operations.send_test(actor_of(request), pk)
    except NotFound as missing:
        raise Http404(str(missing)) from None
    except OperationRefused as refused:
        messages.warning(request, sentence(str(refused)))
    else:
        if answer.ok:
            messages.success(request, f"{channel.name} took the test message.")
            if not settings.IRIS_SITE_URL:
                messages.warning(request, NO_LINKS)
        else:
            messages.error(request, f"{channel.name} did not take the test message: {sentence(answer.error)}")
    # To the top of the page that it was asked on, where the outcome stands.
    of_channel = f"/admin/scaling/noticechannel/{pk}/change/"
    return HttpResponseRedirect(of_channel if request.POST.get("back") == "channel" else "/settings/")


def acknowledge(request: HttpRequest, pk: int) -> HttpResponse:
    """A stock-out is acknowledged by its marker, which silences the notice: where there is one, its form is shown."""
    require(request, Act.ACKNOWLEDGE)
    told = Notice.objects.filter(pk=pk).first()
    marker = stockout_of(told) if told and request.method != "POST" else None
    if marker:
        return HttpResponseRedirect(f"/stockouts/{marker.pk}/acknowledge/")

    def make() -> ActPage:
        notice = Notice.objects.filter(pk=pk).first()
        if notice is None:
            raise Http404(f"There is no notice {pk}.")
        others = held_by_another(notice, actor_of(request))
        taken = (f"It is acknowledged {who(notice)}", "Sent, it is yours and no longer theirs.") if others else ()
        return ActPage(
            act=Act.ACKNOWLEDGE,
            title=f"Acknowledge: {notice.title}",
            button="Take it over" if others else "Acknowledge",
            back=BACK,
            done=f"Nothing more is told of it until it is over: {notice.title}.",
            perform=lambda actor, given: operations.acknowledge_notice(
                actor, pk, given["note"], given["until"], given["version"]
            ),
            nav="settings",
            subject="Settings",
            effects=(*taken, notice.text, "Nothing more is sent about it until it is over; then that is told."),
            fields=(
                FormField("note", "Note", Input.LONG, "What is known, being done, and where to look.", required=True,
                          initial=notice.acknowledged_note),
                FormField("until", "Tell it again", Input.AT,
                          "Until then nothing is sent; if it still lasts then, it is told again.",
                          spans=(("", "never, while it lasts"), *SPANS)),
            ),
            version=notice.version,
        )  # fmt: skip

    return run(request, make, Act.ACKNOWLEDGE)
