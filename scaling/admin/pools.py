"""Quota pools in the admin."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from scaling import operations
from scaling.admin.base import OperatedAdmin, VersionedForm, actor_of
from scaling.models import QuotaPool
from scaling.operations import POOL_FIELDS


class QuotaPoolForm(VersionedForm):
    limits = frozenset(POOL_FIELDS)

    class Meta:
        model = QuotaPool
        fields = tuple(POOL_FIELDS)

    def check(self, changes: Mapping[str, Any]) -> None:
        POOL_FIELDS.read(changes)


@admin.register(QuotaPool)
class QuotaPoolAdmin(OperatedAdmin[QuotaPool]):
    form = QuotaPoolForm
    list_display = ("name", "limit", "learned_limit", "learned_at", "quota_metric")
    search_fields = ("name", "quota_metric")
    readonly_fields = ("name", "learned_limit", "learned_at")
    actions = ("forget_learned_limits",)
    fields = ("name", "limit", "quota_metric", "learned_limit", "learned_at", "reason", "seen_version")

    def save_model(self, request: HttpRequest, obj: QuotaPool, form: Any, change: bool) -> None:  # noqa: ARG002
        """Carry out the edit; nothing to do where nothing was changed."""
        given, changes = form.cleaned_data, form.changes()
        if changes:
            operations.set_quota_pool(actor_of(request), obj.name, given["seen_version"], changes, given["reason"])

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:  # noqa: ARG002
        pool = self.get_object(request, object_id)
        return HttpResponseRedirect(f"/actions/?{urlencode({'q': f'quota pool {pool.name}'}) if pool else ''}")

    @admin.action(description="Forget the learned limits of the selected pools")
    def forget_learned_limits(self, request: HttpRequest, rows: QuerySet[QuotaPool]) -> HttpResponse:
        def forget(actor: Any, pool: QuotaPool) -> object:
            return operations.forget_learned_limit(actor, pool.name)

        return self.run_on_each(request, rows, forget, "Forgotten")
