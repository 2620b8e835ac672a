"""Groups in the admin: limits with the same validation and the same Actions as everywhere; acts on several at once."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from scaling import clock, operations
from scaling.admin.base import OperatedAdmin, VersionedForm, actor_of
from scaling.history import Actor
from scaling.models import Group, Slice
from scaling.operations import LIMIT_FIELDS, read_group

_SHAPE = (
    "name", "platform", "zone", "region", "device_type", "device_variant", "devices_per_worker", "workers_per_slice",
    "worker_cpu", "worker_memory", "worker_disk", "capacity_type",
)  # fmt: skip


class GroupForm(VersionedForm):
    """The limits of a group; what the group is stays as it was made."""

    limits = frozenset(LIMIT_FIELDS)

    class Meta:
        model = Group
        fields = tuple(LIMIT_FIELDS)

    def check(self, changes: Mapping[str, Any]) -> None:
        read_group(changes, self.instance)


@admin.register(Group)
class GroupAdmin(OperatedAdmin[Group]):
    form = GroupForm
    list_display = ("name", "zone", "device_variant", "min_slices", "buffer_slices", "max_slices", "priority",
                    "quota_pool", "allocation_tier", "ordered")  # fmt: skip
    list_filter = ("device_type", "zone", "capacity_type", "platform")
    list_select_related = ("quota_pool",)
    list_per_page = 200
    search_fields = ("name", "device_variant", "zone")
    ordering = ("name",)
    readonly_fields = _SHAPE
    actions = ("drain", "undrain", "pause", "resume")
    fieldsets = (
        ("Slices", {"fields": ("min_slices", "buffer_slices", "max_slices")}),
        ("Order and quota", {"fields": ("priority", "quota_pool", "allocation_tier")}),
        ("Windows", {"fields": ("idle_threshold_seconds", "drain_idle_threshold_seconds",
                                "provision_timeout_seconds")}),
        ("Rates, labels and cost", {"fields": ("scale_up_rate", "scale_down_rate", "attributes",
                                               "price_per_slice_hour")}),
        ("Why", {"fields": ("reason", "seen_version")}),
        ("What it is", {"fields": _SHAPE, "classes": ("collapse",)}),
    )  # fmt: skip

    @admin.display(description="ordered")
    def ordered(self, group: Group) -> str:
        """The orders in force; a pause that has run out is none."""
        paused = operations.is_paused(group, clock.now())
        return ", ".join(word for word, holds in (("draining", group.drain_since), ("paused", paused)) if holds)

    def save_model(self, request: HttpRequest, obj: Group, form: Any, change: bool) -> None:  # noqa: ARG002
        """Carry out the edit; nothing to do where nothing was changed."""
        given, changes = form.cleaned_data, form.changes()
        if changes:
            operations.set_group_limits(actor_of(request), obj.name, given["seen_version"], changes, given["reason"])

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:  # noqa: ARG002
        group = self.get_object(request, object_id)
        query = urlencode({"group": group.name}) if group else ""
        return HttpResponseRedirect(f"/actions/?{query}")

    @admin.action(description="Drain the selected groups")
    def drain(self, request: HttpRequest, rows: QuerySet[Group]) -> HttpResponse:
        return self._confirmed(request, rows, "drain", operations.drain_group, "Draining")

    @admin.action(description="End the drain of the selected groups")
    def undrain(self, request: HttpRequest, rows: QuerySet[Group]) -> HttpResponse:
        return self._confirmed(request, rows, "undrain", operations.undrain_group, "In service again")

    @admin.action(description="Pause the selected groups")
    def pause(self, request: HttpRequest, rows: QuerySet[Group]) -> HttpResponse:
        return self._confirmed(request, rows, "pause", operations.pause_group, "Paused")

    @admin.action(description="Resume the selected groups")
    def resume(self, request: HttpRequest, rows: QuerySet[Group]) -> HttpResponse:
        return self._confirmed(request, rows, "resume", operations.resume_group, "Resumed")

    def _confirmed(
        self, request: HttpRequest, rows: QuerySet[Group], name: str, act: Callable[..., object], done: str
    ) -> HttpResponse:
        """Show what would be hit; with `confirm`, do it, group by group."""
        if request.POST.get("confirm"):
            reason = request.POST.get("reason", "").strip()

            def on_one(actor: Actor, group: Group) -> object:
                return act(actor, group.name, reason)

            return self.run_on_each(request, rows, on_one, done)
        live = Q(slices__state__in=Slice.LIVE)
        busy = Q(slices__state=Slice.State.READY, slices__idle_since__isnull=True)
        hit = rows.annotate(live=Count("slices", filter=live), busy=Count("slices", filter=busy)).order_by("name")
        context = {
            **self.admin_site.each_context(request),
            "title": f"{name.capitalize()} these groups?",
            "groups": list(hit),
            "act": name,
            "checkbox": ACTION_CHECKBOX_NAME,
            "opts": self.opts,
        }
        return TemplateResponse(request, "admin/scaling/group/confirm.html", context)
