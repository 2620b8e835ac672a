"""Deployments in the admin: what counts in place of the Gateway's settings; pausing and resuming several at once."""

from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from scaling import clock, operations
from scaling.admin.base import actor_of
from scaling.admin.chosen import folded
from scaling.admin.reviewed import Review, ReviewedAdmin, rows_of
from scaling.admin.written_forms import WrittenForm, form_of
from scaling.history import Actor
from scaling.models import Deployment
from scaling.operations import EDIT_FIELDS, OperationRefused
from scaling.operations.acts import read_act
from scaling.operations.deployment_fields import in_force, read_edit
from scaling.operations.deployments import is_paused
from scaling.operations.labels import EDIT_LABELS, EDIT_SECTIONS
from scaling.operations.telling import capital
from scaling.operations.written import Written, overrides_of, write
from scaling.previews.replicas import tick_preview

UNPROCESSABLE = 422
_PAUSED = {"both": "adding and removing", "up": "adding", "down": "removing"}
_KNOWN = ("deployment_id", "name", "status", "first_seen_at", "last_request_at")


class _DeploymentForm(WrittenForm):
    """What an operator sets in place of the Gateway's values; an empty field gives the Gateway's its place back."""

    table = EDIT_FIELDS

    class Meta:
        model = Deployment
        fields = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in EDIT_FIELDS:
            said = write(getattr(self.instance, name)) or "the default"
            self.fields[name].help_text = f"{EDIT_FIELDS[name].doc} Empty = the Gateway's: {said}."

    def written(self) -> Written:
        return overrides_of(self.instance)

    def check(self, changes: Mapping[str, Any]) -> Mapping[str, Any]:
        return read_edit(changes, self.instance)


class PausedFilter(admin.SimpleListFilter):
    """Deployments by whether a pause is in force: one that has run out is none."""

    title = "paused"
    parameter_name = "paused"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        return [("yes", "paused"), ("no", "not paused")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Deployment]) -> QuerySet[Deployment]:  # noqa: ARG002
        paused = ~Q(pause_direction="") & (Q(pause_until=None) | Q(pause_until__gt=clock.now()))
        chosen = {"yes": paused, "no": ~paused}
        return queryset.filter(chosen.get(self.value() or "", Q()))


@admin.register(Deployment)
class DeploymentAdmin(ReviewedAdmin[Deployment]):
    form = form_of(_DeploymentForm, EDIT_LABELS)
    list_display = ("deployment_id", "status", "replicas", "latency", "rps", "overridden", "paused")
    list_filter = (PausedFilter, "status")
    list_per_page = 50
    search_fields = ("deployment_id", "name")
    search_help_text = "Id or name"
    ordering = ("deployment_id",)
    readonly_fields = _KNOWN
    actions = ("pause", "resume")
    fieldsets: ClassVar[Any] = (
        *((title, {"fields": names}) for title, names in EDIT_SECTIONS),
        ("Why", {"fields": ("reason", "seen_version", "base")}),
        ("What the Gateway lists", {"fields": _KNOWN, "classes": ("collapse",)}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Deployment]:
        return super().get_queryset(request).filter(gone_at=None)

    @admin.display(description="min to max")
    def replicas(self, row: Deployment) -> str:
        return f"{in_force(row, 'min_replicas')} to {in_force(row, 'max_replicas')}"

    @admin.display(description="target p95, ms")
    def latency(self, row: Deployment) -> str:
        return write(in_force(row, "target_latency_p95_ms") or None)

    @admin.display(description="target rps")
    def rps(self, row: Deployment) -> str:
        return write(in_force(row, "target_rps") or None)

    @admin.display(description="set here")
    def overridden(self, row: Deployment) -> str:
        return ", ".join(EDIT_LABELS[name].lower() for name in EDIT_FIELDS if name in row.overrides)

    @admin.display(description="paused", empty_value="")
    def paused(self, row: Deployment) -> str:
        return _PAUSED.get(row.pause_direction, "") if is_paused(row, clock.now()) else ""

    def review(self, row: Deployment, form: WrittenForm) -> Review:
        effect = tick_preview(row, form.read)
        rows = rows_of(EDIT_LABELS, form.stored, form.given())
        return Review(
            rows, effect.scope if effect else (), tick=effect or False, promise="In force from its next tick."
        )

    def save_model(self, request: HttpRequest, obj: Deployment, form: Any, change: bool) -> None:  # noqa: ARG002
        """Carry out the edit; a form that changes nothing does not come here."""
        given, changed = form.cleaned_data, form.changes()
        if changed:
            actor, version = actor_of(request), given["seen_version"]
            operations.edit_deployment(actor, obj.deployment_id, version, changed, given["reason"])

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:  # noqa: ARG002
        row = self.get_object(request, object_id)
        return HttpResponseRedirect(f"/actions/?{urlencode({'target': f'deployment {row}'}) if row else ''}")

    @admin.action(description="Pause the selected deployments")
    def pause(self, request: HttpRequest, rows: QuerySet[Deployment]) -> HttpResponse:
        given = {name: request.POST.get(name, "").strip() for name in ("reason", "until", "direction")}
        if not request.POST.get("confirm"):
            return self._confirm(request, rows, "pause", given)
        try:
            until = read_act(reason=given["reason"], until=given["until"] or None)["until"]
        except OperationRefused as refused:
            return self._confirm(request, rows, "pause", given, str(refused))

        def pause(actor: Actor, row: Deployment) -> object:
            return operations.pause_deployment(
                actor, row.deployment_id, given["direction"] or "both", until, given["reason"]
            )

        return self.run_on_each(request, rows, pause, "Paused")

    @admin.action(description="Resume the selected deployments")
    def resume(self, request: HttpRequest, rows: QuerySet[Deployment]) -> HttpResponse:
        reason = request.POST.get("reason", "").strip()
        if not request.POST.get("confirm"):
            return self._confirm(request, rows, "resume", {"reason": reason})

        def resume(actor: Actor, row: Deployment) -> object:
            return operations.resume_deployment(actor, row.deployment_id, reason)

        return self.run_on_each(request, rows, resume, "Resumed")

    def _confirm(
        self, request: HttpRequest, rows: QuerySet[Deployment], act: str, given: Mapping[str, str], wrong: str = ""
    ) -> HttpResponse:
        """Which ones, for how long and why, before it is done."""
        context = {
            **self.admin_site.each_context(request),
            "title": f"{act.capitalize()} these deployments?",
            "rows": rows,
            "act": act,
            "given": given,
            "notice": capital(wrong),
            "chosen": folded(rows),
            "opts": self.opts,
        }
        status = UNPROCESSABLE if wrong else 200
        return TemplateResponse(request, "admin/scaling/deployment/confirm.html", context, status=status)
