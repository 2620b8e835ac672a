"""Groups in the admin: limits with the same validation and the same Actions as everywhere; acts on several at once."""

from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.forms import Select
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html

from scaling import clock, limit_notes, operations
from scaling.admin import bulk, orders
from scaling.admin.base import actor_of
from scaling.admin.reviewed import Review, ReviewedAdmin, rows_of
from scaling.admin.written_forms import WrittenForm, form_of
from scaling.models import Group, QuotaPool, Slice
from scaling.operations import LIMIT_FIELDS, read_limits
from scaling.operations.labels import LIMIT_LABELS, LIMIT_SECTIONS
from scaling.operations.written import Written, limits_of
from scaling.previews import asked, changes

_SHAPE = (
    "name", "platform", "zone", "region", "device_type", "device_variant", "devices_per_worker", "workers_per_slice",
    "worker_cpu", "worker_memory", "worker_disk", "capacity_type",
)  # fmt: skip


class _GroupForm(WrittenForm):
    """The limits of a group; what the group is stays as it was made."""

    table = LIMIT_FIELDS

    class Meta:
        model = Group
        fields = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        widget = self.fields["quota_pool"].widget
        if isinstance(widget, Select):
            names = QuotaPool.objects.order_by("name").values_list("name", flat=True)
            widget.choices = [("", "none"), *((name, name) for name in names)]

    def written(self) -> Written:
        return limits_of(self.instance)

    def check(self, changes: Mapping[str, Any]) -> Mapping[str, Any]:
        return read_limits(changes, self.instance)


class OrderFilter(admin.SimpleListFilter):
    """Groups by the order of an operator that is in force."""

    title = "order"
    parameter_name = "ordered"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        return [("draining", "draining"), ("paused", "paused"), ("none", "none")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Group]) -> QuerySet[Group]:  # noqa: ARG002
        now = clock.now()
        paused = Q(pause_since__isnull=False) & (Q(pause_until=None) | Q(pause_until__gt=now))
        chosen = {"draining": Q(drain_since__isnull=False), "paused": paused, "none": ~paused & Q(drain_since=None)}
        return queryset.filter(chosen.get(self.value() or "", Q()))


@admin.register(Group)
class GroupAdmin(ReviewedAdmin[Group]):
    form = form_of(_GroupForm, LIMIT_LABELS)
    # What is most looked for comes first: on a narrow screen the rest is reached by scrolling.
    list_display = ("name", "ordered", "held", "min_slices", "buffer_slices", "max_slices", "priority", "zone",
                    "device_variant", "quota_pool")  # fmt: skip
    list_filter = (OrderFilter, "device_type", "platform", "capacity_type", "quota_pool", "zone")
    list_select_related = ("quota_pool",)
    list_per_page = 50
    search_fields = ("name", "device_variant", "zone", "quota_pool__name")
    search_help_text = "Name, variant, zone or quota pool"
    ordering = ("name",)
    readonly_fields = _SHAPE
    together = ("edit_limits",)
    actions = ("edit_limits", "drain", "undrain", "pause", "resume")
    fieldsets: ClassVar[Any] = (
        *((title, {"fields": names}) for title, names in LIMIT_SECTIONS),
        ("Why", {"fields": ("reason", "seen_version", "base")}),
        ("What it is", {"fields": _SHAPE, "classes": ("collapse",)}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Group]:
        """With `live`, counted for the rows of a page alone: joined, each filter and count would join all slices."""
        slices = Slice.objects.filter(group=OuterRef("pk"), state__in=Slice.LIVE).order_by()
        counted = slices.values("group").annotate(n=Count("*")).values("n")
        live = Coalesce(Subquery(counted), 0)
        return super().get_queryset(request).select_related("platform", "quota_pool").annotate(live=live)

    @admin.display(description="held", ordering="live")
    def held(self, group: Any) -> int:
        """Slices that are not gone."""
        return int(group.live)

    @admin.display(description="order", empty_value="")
    def ordered(self, group: Group) -> str:
        """The orders in force; a pause that has run out is none."""
        paused = operations.is_paused(group, clock.now())
        found = [word for word, holds in (("draining", group.drain_since), ("paused", paused)) if holds]
        return format_html('<b class="ordered">{}</b>', ", ".join(found)) if found else ""

    def review(self, row: Group, form: WrittenForm) -> Review | None:
        effect = asked(changes.limits(row.name, form.read))
        if effect is None:
            return None
        rows = rows_of(LIMIT_LABELS, form.stored, form.given(), notes=limit_notes.of_group(row, form.read))
        promise = "In force from the next cycle. A failure that holds until the group is edited is cleared by it."
        return Review(rows, effect.scope, preview=effect, promise=promise)

    def save_model(self, request: HttpRequest, obj: Group, form: Any, change: bool) -> None:  # noqa: ARG002
        """Carry out the edit; a form that changes nothing does not come here."""
        given, changed = form.cleaned_data, form.changes()
        if changed:
            operations.set_group_limits(actor_of(request), obj.name, given["seen_version"], changed, given["reason"])

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:  # noqa: ARG002
        group = self.get_object(request, object_id)
        query = urlencode({"group": group.name}) if group else ""
        return HttpResponseRedirect(f"/actions/?{query}")

    @admin.action(description="Edit limits of the selected groups")
    def edit_limits(self, request: HttpRequest, rows: QuerySet[Group]) -> HttpResponse:
        return bulk.edit(self, request, rows)

    @admin.action(description="Drain the selected groups")
    def drain(self, request: HttpRequest, rows: QuerySet[Group]) -> HttpResponse:
        return orders.give(self, request, rows, orders.DRAIN)

    @admin.action(description="End the drain of the selected groups")
    def undrain(self, request: HttpRequest, rows: QuerySet[Group]) -> HttpResponse:
        return orders.give(self, request, rows, orders.UNDRAIN)

    @admin.action(description="Pause the selected groups")
    def pause(self, request: HttpRequest, rows: QuerySet[Group]) -> HttpResponse:
        return orders.give(self, request, rows, orders.PAUSE)

    @admin.action(description="Resume the selected groups")
    def resume(self, request: HttpRequest, rows: QuerySet[Group]) -> HttpResponse:
        return orders.give(self, request, rows, orders.RESUME)
