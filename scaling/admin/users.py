"""People in the admin: name, role, password. Nobody is deleted, for the history names them; they are made inactive."""

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth import password_validation, update_session_auth_hash
from django.contrib.auth.models import Group as RoleGroup
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from scaling import kept_forms, people
from scaling.admin.base import NOTHING_CHANGED, OperatedAdmin, RowForm, actor_of
from scaling.operations import OperationRefused

_ROLE_CHOICES = (("", "none: may see nothing"), *((role, role) for role in people.ROLES))


# The fields of the form by what `people.told_of` calls them.
_TOLD = {"username": "name", "email": "email", "role": "role", "is_active": "is_active"}


def _read(shown: str) -> dict[str, Any] | None:
    """What a form showed; None where it does not say, nothing where that can't be read."""
    try:
        read = json.loads(shown) if shown else None
    except ValueError:
        return {}
    return read if read is None or isinstance(read, dict) else {}


class PersonForm(RowForm):
    # What was typed before, when the form comes back to who had to show who they are.
    kept: Mapping[str, Any] = {}
    role = forms.ChoiceField(
        choices=_ROLE_CHOICES,
        required=False,
        help_text="A viewer reads, an operator acts, an admin edits limits, people and tokens.",
    )
    password = forms.CharField(
        required=False, strip=False, widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}), max_length=200
    )
    # What the form showed of the person, as JSON: what others changed meanwhile is not undone by what was only shown.
    shown = forms.CharField(label="", required=False, widget=forms.HiddenInput)

    class Meta:
        model = User
        fields = ("username", "email", "is_active")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        new = self.instance.pk is None
        self.present = None if new else people.told_of(self.instance)
        self.initial.update({"role": people.role_name(self.instance), **self._still_wanted(self.kept)})
        # A new one is typed here; what the person's has been hashed to is nobody's to see.
        self.initial["password"] = ""
        self.initial["shown"] = "" if new else json.dumps(self.present)
        # Whom a provider or proxy signs in needs no password: the first of that name there is bound to a person
        # without one.
        elsewhere = settings.IRIS_OIDC.enabled or settings.IRIS_PROXY.enabled
        self.fields["password"].required = new and not elsewhere
        self.fields["password"].help_text = (
            ("At least 10 characters." + (" Empty = signs in elsewhere." if elsewhere else ""))
            if new
            else "Empty = it stays as it is. At least 10 characters. Another one signs this person out everywhere."
        )

    def _still_wanted(self, typed: Mapping[str, Any]) -> dict[str, Any]:
        """Of what was typed, all that is other than what was shown; the rest is as it is now."""
        seen = _read(typed.get("shown", "")) if self.present else None
        return {
            name: value for name, value in typed.items() if seen is None or value != seen.get(_TOLD.get(name, name))
        }

    def _show_newer(self, typed: Mapping[str, Any], present: Mapping[str, Any]) -> None:
        """Others changed the person meanwhile: say so, and show what is wanted still beside what is now."""
        wanted = self._still_wanted(typed)
        merged = {name: wanted.get(name, present[told]) or "" for name, told in _TOLD.items()}
        self.data = {**self.data, **merged, "shown": json.dumps(present)}
        again = " Type the password again." if typed.get("password") else ""
        self.add_error(
            None,
            f"{people.changed_words(self.instance)}. Nothing was saved. What you changed is kept below; the rest is as "
            f"it is now.{again}",
        )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.present and _read(cleaned.get("shown", "")) not in (None, self.present):
            self._show_newer({**{name: self.data.get(name, "") for name in _TOLD}, **cleaned}, self.present)
            return cleaned
        if cleaned.get("password"):
            try:
                password_validation.validate_password(cleaned["password"], self.instance)
            except forms.ValidationError as weak:
                self.add_error("password", weak)
        if "username" in cleaned:
            try:
                people.check_person_name(cleaned["username"], self.instance.pk)
            except OperationRefused as refused:
                self.add_error("username", refused.faults[0].message)
        try:
            people.check_admin_left(self.instance, cleaned.get("role", ""), bool(cleaned.get("is_active")))
        except OperationRefused as refused:
            self.add_error("role", refused.faults[0].message)
        return cleaned

    def is_untouched(self) -> bool:
        """Whether what was sent is the person as stored, without a password."""
        given = {told: self.cleaned_data.get(name) for name, told in _TOLD.items()}
        return self.present is not None and not self.cleaned_data.get("password") and given == self.present


class PersonAdmin(OperatedAdmin[User]):
    form = PersonForm
    list_display = ("username", "role", "email", "is_active", "last_login")
    list_filter = ("is_active", "groups")
    search_fields = ("username", "email")
    ordering = ("username",)
    fields = ("username", "email", "role", "is_active", "password", "shown")
    actions = ("unlock",)

    @admin.action(description="Let the selected people try their passwords again")
    def unlock(self, request: HttpRequest, rows: QuerySet[User]) -> HttpResponse:
        return self.run_on_each(request, rows, people.unlock, "May try again")

    @admin.display(description="role")
    def role(self, user: User) -> str:
        return people.role_name(user) or "none"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._entered(request)

    def get_form(
        self, request: HttpRequest, obj: User | None = None, change: bool = False, **kwargs: Any
    ) -> type[PersonForm]:
        form = cast(type[PersonForm], super().get_form(request, obj, change, **kwargs))
        form.kept = kept_forms.take(request)
        if obj and _read(form.kept.get("shown", "")) not in (None, people.told_of(obj)):
            messages.warning(request, f"{people.changed_words(obj)}. What you did not change is as it is now.")
        return form

    def changeform_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        """A form that is sent as it was shown is said to be that."""
        row = self.get_object(request, object_id) if request.method == "POST" and object_id else None
        if row is not None and self._entered(request):
            form = self.get_form(request, row, change=True)(request.POST, instance=row)
            if form.is_valid() and form.is_untouched():
                messages.warning(request, NOTHING_CHANGED)
                return HttpResponseRedirect(request.get_full_path())
        return super().changeform_view(request, object_id, *args, **kwargs)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:  # noqa: ARG002
        given = form.cleaned_data
        people.save_person(actor_of(request), obj, given["role"], given["password"], _read(given["shown"]))
        if obj.pk == request.user.pk and given["password"]:
            update_session_auth_hash(request, obj)

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:  # noqa: ARG002
        user = self.get_object(request, object_id)
        return HttpResponseRedirect(f"/actions/?{urlencode({'q': f'user {user.username}'}) if user else ''}")


# Roles are chosen on a person; Django's groups and permissions are not edited by hand.
# Whoever registers them must have done so, whatever was imported first.
import_module("django.contrib.auth.admin")
admin.site.unregister(RoleGroup)
admin.site.unregister(User)
admin.site.register(User, PersonAdmin)
