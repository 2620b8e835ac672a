"""Quota pools in the admin."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from scaling import limit_notes, operations, pool_room
from scaling.admin.base import actor_of
from scaling.admin.reviewed import Changed, Review, ReviewedAdmin, rows_of
from scaling.admin.written_forms import WrittenForm, form_of
from scaling.models import QuotaPool
from scaling.operations import POOL_FIELDS
from scaling.operations.labels import POOL_LABELS
from scaling.operations.written import Written, fields_of_pool
from scaling.previews import asked, changes


class _PoolForm(WrittenForm):
    table = POOL_FIELDS

    class Meta:
        model = QuotaPool
        fields = ()

    def written(self) -> Written:
        return fields_of_pool(self.instance)

    def check(self, changes: Mapping[str, Any]) -> Mapping[str, Any]:
        return POOL_FIELDS.read(changes)


@admin.register(QuotaPool)
class QuotaPoolAdmin(ReviewedAdmin[QuotaPool]):
    form = form_of(_PoolForm, POOL_LABELS)
    change_form_template = "admin/scaling/quotapool/form.html"
    list_display = ("name", "limit", "held", "left", "learned_limit", "learned_at", "members", "quota_metric")
    search_fields = ("name", "quota_metric")
    search_help_text = "Name or quota metric"
    readonly_fields = ("name", "held", "left", "learned_limit", "learned_at")
    actions = ("forget_learned_limits",)
    fieldsets = (
        ("Limit", {"fields": ("name", "held", "left", "limit", "quota_metric")}),
        ("What the platform taught", {"fields": ("learned_limit", "learned_at"), "description":
            "It wins while it is lower. A change of the limit or the metric forgets it, and so does a day."}),
        ("Why", {"fields": ("reason", "seen_version", "base")}),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[QuotaPool]:
        return pool_room.with_held(super().get_queryset(request)).annotate(group_count=Count("groups"))

    @admin.display(description="held", ordering="held")
    def held(self, pool: Any) -> str:
        """By slices that are not gone."""
        return f"{pool.held:,}"

    @admin.display(description="left")
    def left(self, pool: Any) -> str:
        limit = pool_room.limit_of(pool)
        return "not limited" if limit is None else f"{max(limit - pool.held, 0):,}"

    @admin.display(description="groups", ordering="group_count")
    def members(self, pool: Any) -> int:
        return int(pool.group_count)

    def review(self, row: QuotaPool, form: WrittenForm) -> Review | None:
        effect = asked(changes.pool(row.name, form.read))
        if effect is None:
            return None
        pool: Any = pool_room.with_held(QuotaPool.objects.filter(pk=row.pk)).get()
        rows = rows_of(POOL_LABELS, form.stored, form.given(), notes=limit_notes.of_pool(pool.held, form.read))
        promise = "In force from the next cycle."
        if row.learned_limit is not None:
            rows.append(Changed("Learned limit", str(row.learned_limit), "none"))
            promise += " What the platform taught is forgotten with it."
        return Review(rows, effect.scope, preview=effect, promise=promise)

    def untouched(self, row: QuotaPool) -> str:
        if row.learned_limit is None:
            return ""
        return f"The learned limit of {row.learned_limit} holds on; “Forget the learned limit” forgets it alone."

    def save_model(self, request: HttpRequest, obj: QuotaPool, form: Any, change: bool) -> None:  # noqa: ARG002
        """Carry out the edit; a form that changes nothing does not come here."""
        given, changed = form.cleaned_data, form.changes()
        if changed:
            operations.set_quota_pool(actor_of(request), obj.name, given["seen_version"], changed, given["reason"])

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:  # noqa: ARG002
        pool = self.get_object(request, object_id)
        return HttpResponseRedirect(f"/actions/?{urlencode({'target': f'quota pool {pool.name}'}) if pool else ''}")

    @admin.action(description="Forget the learned limits of the selected pools")
    def forget_learned_limits(self, request: HttpRequest, rows: QuerySet[QuotaPool]) -> HttpResponse:
        def forget(actor: Any, pool: QuotaPool) -> object:
            return operations.forget_learned_limit(actor, pool.name)

        return self.run_on_each(request, rows, forget, "Forgotten")
