"""People in the admin: name, role, password. Nobody is deleted, for the history names them; they are made inactive."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
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
from django.utils.html import format_html

from scaling import clock, kept_forms, lockouts, people
from scaling.admin.base import NOTHING_CHANGED, OperatedAdmin, RowForm, actor_of
from scaling.lockouts import Wrong
from scaling.operations import OperationRefused
from scaling.operations.acts import when

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
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "data-shows": "id_again"}),
        max_length=200,
    )
    again = forms.CharField(
        label="Password, again",
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        max_length=200,
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
        if cleaned.get("password", "") != cleaned.get("again", "") and "password" not in self.errors:
            self.add_error("again", "The two are not the same.")
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


class LockFilter(admin.SimpleListFilter):
    """People by whether wrong passwords keep them out."""

    title = "password"
    parameter_name = "password"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        return [("locked", "locked out"), ("wrong", "wrong ones lately")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> QuerySet[User]:  # noqa: ARG002
        if self.value() not in ("locked", "wrong"):
            return queryset
        wrong = lockouts.wrong_passwords(clock.now(), queryset.order_by().values("username"))
        names = [name for name, ones in wrong.items() if self.value() == "wrong" or ones[0].until]
        return queryset.filter(username__in=names)


def _password_words(wrong: Sequence[Wrong]) -> str:
    """What keeps a person out, and from which addresses; the longest wait comes first."""
    locked = [one for one in wrong if one.until]
    if locked:
        places = f" and {len(locked) - 1} more" if locked[1:] else ""
        place = f"from {locked[0].address or 'clients without an address'}{places}"
        return format_html('<b class="ended">locked until {}</b> {}', when(locked[0].until), place)
    count = sum(one.count for one in wrong)
    return f"{count} wrong password{'' if count == 1 else 's'} lately" if count else ""


class PersonAdmin(OperatedAdmin[User]):
    form = PersonForm
    list_display = ("username", "role", "password_state", "email", "is_active", "signed_in")
    list_filter = (LockFilter, "is_active", "groups")
    readonly_fields = ("password_state",)
    search_fields = ("username", "email")
    ordering = ("username",)
    actions = ("unlock",)

    @admin.action(description="Let the selected people try their passwords again")
    def unlock(self, request: HttpRequest, rows: QuerySet[User]) -> HttpResponse:
        return self.run_on_each(request, rows, people.unlock, "May try again")

    def get_fields(self, request: HttpRequest, obj: User | None = None) -> Any:  # noqa: ARG002
        """What was typed wrong has a place where something was."""
        state = ("password_state",) if obj and self.password_state(obj) else ()
        return ("username", "email", "role", "is_active", "password", "again", *state, "shown")

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """The rows of a page with what was typed wrong for each: one query for all of them."""
        page = super().get_changelist_instance(request)
        rows: list[Any] = list(page.result_list)
        wrong = lockouts.wrong_passwords(clock.now(), [row.username for row in rows])
        for row in rows:
            row.wrong_passwords = wrong.get(row.username, [])
        page.result_list = rows
        return page

    @admin.display(description="sign-in", empty_value="")
    def password_state(self, user: Any) -> str:
        """Who waits after too many wrong passwords, from where and how long."""
        wrong = getattr(user, "wrong_passwords", None)
        if wrong is None:
            wrong = lockouts.wrong_passwords(clock.now(), [user.username]).get(user.username, [])
        return _password_words(wrong)

    @admin.display(description="last signed in", ordering="last_login", empty_value="never")
    def signed_in(self, user: User) -> datetime | None:
        return user.last_login

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
