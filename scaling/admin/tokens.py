"""API tokens in the admin: make one (its secret is shown for some minutes, to who made it), revoke some."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html

from scaling import clock, kept_forms, operations, shown_once
from scaling.admin.base import OperatedAdmin, actor_of
from scaling.models import ApiToken
from scaling.operations import OperationRefused

_TOO_LATE = (
    f"A secret is shown for {shown_once.MINUTES} minutes after its token was made, to who made it. If it is lost, "
    "revoke the token and make another."
)


class TokenForm(forms.Form):
    """What a new token is; what is allowed is checked by the operation."""

    name = forms.CharField(max_length=100, help_text="Who uses it; shown as the actor of its acts.")
    role = forms.ChoiceField(choices=ApiToken.Role.choices)
    scope = forms.CharField(
        max_length=200,
        required=False,
        help_text="The demand source of a scheduler token, the worker of a worker token.",
    )
    expires_at = forms.DateTimeField(
        label="Expires at, in UTC",
        required=False,
        help_text="Empty = never.",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
    )


@admin.register(ApiToken)
class ApiTokenAdmin(OperatedAdmin[ApiToken]):
    list_display = ("name", "state", "role", "expires", "revoked", "used", "scope", "prefix", "created_by")
    list_filter = ("role",)
    search_fields = ("name", "scope", "prefix")
    fields = ("name", "role", "scope", "prefix", "created_by", "created_at", "expires_at", "revoked_at", "last_used_at")
    readonly_fields = fields
    actions = ("revoke",)

    @admin.display(description="State")
    def state(self, token: ApiToken) -> str:
        """A word for whether it still opens anything; what is over stands out."""
        if token.revoked_at is None and (token.expires_at is None or token.expires_at > clock.now()):
            return "in force"
        return format_html('<b class="ended">{}</b>', "expired" if token.revoked_at is None else "revoked")

    @admin.display(description="Expires at", ordering="expires_at", empty_value="never")
    def expires(self, token: ApiToken) -> datetime | None:
        return token.expires_at

    @admin.display(description="Revoked at", ordering="revoked_at", empty_value="never")
    def revoked(self, token: ApiToken) -> datetime | None:
        return token.revoked_at

    @admin.display(description="Last used at", ordering="last_used_at", empty_value="never")
    def used(self, token: ApiToken) -> datetime | None:
        return token.last_used_at

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._entered(request)

    def has_change_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        """Acts on the list are changes; a stored token itself is only looked at."""
        return obj is None and self._entered(request)

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:  # noqa: ARG002
        """The form; made, the token's secret stands on a page of its own, which can be loaded again."""
        self._check_entered(request)
        form = TokenForm(request.POST or None, initial=kept_forms.take(request))
        context = {**self.admin_site.each_context(request), "title": "New API token", "form": form, "opts": self.opts}
        if request.method == "POST" and form.is_valid():
            try:
                token, secret = operations.create_token(actor_of(request), **form.cleaned_data)
            except OperationRefused as refused:
                for fault in refused.faults:
                    form.add_error(fault.path if fault.path in form.fields else None, fault.message)
            else:
                answer = HttpResponseRedirect(reverse("admin:scaling_apitoken_secret", args=(token.pk,)))
                shown_once.keep(request, answer, answer.url, secret)
                return answer
        return TemplateResponse(request, "admin/scaling/apitoken/add.html", context)

    def get_urls(self) -> list[Any]:
        secret = self.admin_site.admin_view(self.secret_view)
        return [path("<path:object_id>/secret/", secret, name="scaling_apitoken_secret"), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        shown_once.drop_old(request)
        return super().changelist_view(request, extra_context)

    def secret_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The secret of a token just made, for the browser that made it; sent, that is over."""
        self._check_entered(request)
        token = self.get_object(request, object_id)
        secret = shown_once.shown(request) if token else ""
        if token is not None and secret and request.method != "POST":
            page = {"token": token, "secret": secret, "minutes": shown_once.MINUTES, "title": f"Token {token.name}"}
            context = {**self.admin_site.each_context(request), **page, "opts": self.opts}
            return TemplateResponse(request, "admin/scaling/apitoken/made.html", context)
        if request.method != "POST":
            messages.warning(request, _TOO_LATE)
        answer = HttpResponseRedirect(reverse("admin:scaling_apitoken_changelist"))
        shown_once.drop(request, answer)
        return answer

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:  # noqa: ARG002
        token = self.get_object(request, object_id)
        return HttpResponseRedirect(f"/actions/?{urlencode({'q': f'token {token.name}'}) if token else ''}")

    def _check_entered(self, request: HttpRequest) -> None:
        if not self.has_add_permission(request):
            raise PermissionDenied

    @admin.action(description="Revoke the selected tokens")
    def revoke(self, request: HttpRequest, rows: QuerySet[ApiToken]) -> HttpResponse:
        def revoke(actor: Any, token: ApiToken) -> object:
            return operations.revoke_token(actor, token.name)

        return self.run_on_each(request, rows, revoke, "Revoked")
