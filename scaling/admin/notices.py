"""Notice channels in the admin: made, changed, removed. Addresses go in and are never shown again."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from scaling import operations
from scaling.admin.base import NOTHING_CHANGED, OperatedAdmin, actor_of
from scaling.models import NoticeChannel
from scaling.notices.kinds import CONDITIONS
from scaling.notices.messages import NO_LINKS
from scaling.operations import OperationError, OperationRefused

KINDS = [(kind.value, condition.label) for kind, condition in CONDITIONS.items()]


class ChannelForm(forms.Form):
    """What a channel is; what is allowed is checked by the operation."""

    name = forms.CharField(max_length=100, help_text="What people call it, such as on-call.")
    url = forms.CharField(
        label="Address",
        max_length=2000,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "size": 60}),
        help_text="https://… is sent JSON, slack+https://… what Slack and its like take, "
        "mailto://user:password@host an e-mail; every other address of the Apprise library works too. "
        "Kept secret: it is not shown again.",
    )
    kinds = forms.MultipleChoiceField(
        label="Is told of",
        required=False,
        choices=KINDS,
        widget=forms.CheckboxSelectMultiple,
        help_text="None of them means all.",
    )
    enabled = forms.BooleanField(label="Switched on", required=False, initial=True)
    tell_over = forms.BooleanField(label="Is told what is over", required=False, initial=True)
    reason = forms.CharField(max_length=500, required=False, help_text="Kept in the history, beside your name.")
    seen_version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any, channel: NoticeChannel | None) -> None:
        initial = {}
        if channel is not None:
            initial = {name: getattr(channel, name) for name in ("name", "kinds", "enabled", "tell_over")}
            initial["seen_version"] = channel.version
        super().__init__(data, initial=initial)
        if channel is not None:
            self.fields["url"].required = False
            kept = f"Now {channel.masked}. Left empty, it stays."
            self.fields["url"].help_text = f"{kept} {self.fields['url'].help_text}"
            if channel.from_environment:
                for name in ("name", "url"):
                    del self.fields[name]


class SwitchedOn(admin.BooleanFieldListFilter):
    """Called in the list as in the form."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = "switched on"


@admin.register(NoticeChannel)
class NoticeChannelAdmin(OperatedAdmin[NoticeChannel]):
    list_display = ("name", "address", "state", "told_of", "last_ok", "last_failed", "last_error")
    list_filter = (("enabled", SwitchedOn),)
    search_fields = ("name",)
    actions = ("remove",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._entered(request)

    @admin.display(description="address", ordering="masked")
    def address(self, channel: NoticeChannel) -> str:
        """What of it may be shown."""
        return f"{channel.masked} (IRIS_NOTICE_URLS)" if channel.from_environment else channel.masked

    @admin.display(description="switched on", ordering="enabled", boolean=True)
    def state(self, channel: NoticeChannel) -> bool:
        return channel.enabled

    @admin.display(description="is told of")
    def told_of(self, channel: NoticeChannel) -> str:
        told = ", ".join(label for kind, label in KINDS if kind in channel.kinds) or "everything"
        return told if channel.tell_over else f"{told}; not when it is over"

    @admin.display(description="last took one", ordering="last_ok_at", empty_value="never")
    def last_ok(self, channel: NoticeChannel) -> datetime | None:
        return channel.last_ok_at

    @admin.display(description="last failed", ordering="last_failed_at", empty_value="never")
    def last_failed(self, channel: NoticeChannel) -> datetime | None:
        return channel.last_failed_at

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None  # noqa: ARG002
    ) -> HttpResponse:  # fmt: skip
        """The form of a new or a stored channel. Outside of a transaction: its address is checked by the library."""
        if not self._entered(request):
            raise PermissionDenied
        channel = self._channel(request, object_id)
        form = ChannelForm(request.POST or None, channel)
        if request.method == "POST" and form.is_valid() and self._is_saved(request, form, channel):
            return HttpResponseRedirect(reverse("admin:scaling_noticechannel_changelist"))
        context = {
            **self.admin_site.each_context(request),
            "title": f"Notice channel {channel}" if channel else "New notice channel",
            "form": form,
            "channel": channel,
            "no_links": "" if settings.IRIS_SITE_URL else NO_LINKS,
            "opts": self.opts,
        }
        return TemplateResponse(request, "admin/scaling/noticechannel/form.html", context)

    def _channel(self, request: HttpRequest, object_id: str | None) -> NoticeChannel | None:
        if object_id is None:
            return None
        found = self.get_object(request, object_id)
        if found is None:
            raise Http404(f"There is no notice channel {object_id}.")
        return found

    def _is_saved(self, request: HttpRequest, form: ChannelForm, channel: NoticeChannel | None) -> bool:
        given = dict(form.cleaned_data)
        reason, version = given.pop("reason"), given.pop("seen_version")
        if not given.get("url"):
            given.pop("url", None)
        changed = {name: value for name, value in given.items() if name in form.changed_data}
        if channel is not None and not changed:
            messages.warning(request, NOTHING_CHANGED)
            return False
        try:
            if channel is None:
                saved = operations.create_channel(actor_of(request), **given, reason=reason)
            else:
                saved = operations.set_channel(actor_of(request), channel.pk, version, changed, reason)
        except OperationRefused as refused:
            for fault in refused.faults:
                form.add_error(fault.path if fault.path in form.fields else None, fault.message)
            return False
        except OperationError as refused:
            form.add_error(None, f"Nothing was saved: {refused}")
            return False
        messages.success(request, f"Saved: {saved}.")
        return True

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:  # noqa: ARG002
        channel = self._channel(request, object_id)
        return HttpResponseRedirect(f"/actions/?{urlencode({'q': f'notice channel {channel}'})}")

    @admin.action(description="Remove the selected channels")
    def remove(self, request: HttpRequest, rows: QuerySet[NoticeChannel]) -> HttpResponse:
        def remove(actor: Any, channel: NoticeChannel) -> object:
            return operations.remove_channel(actor, channel.pk)

        return self.run_on_each(request, rows, remove, "Removed")
