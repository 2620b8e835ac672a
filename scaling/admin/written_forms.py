"""Forms of the admin whose fields are read and judged by operations alone, as on the pages: no second set of rules.

Whoever sends a form that others have overtaken gets it back: their own changes kept, all they left alone as it is
stored now, and beside each clash the value that is stored.
"""

import json
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, cast

from django import forms
from django.http import QueryDict

from scaling.admin.base import RowForm
from scaling.operations import OperationRefused
from scaling.operations.changes import last_change_of
from scaling.operations.fields import FieldTable
from scaling.operations.inputs import Labels
from scaling.operations.written import Written, changed

# What a form was overtaken by is told in it under this name; it then says at each change what is stored now.
OVERTAKEN = "_overtaken"
# Sent with a form that comes back as it was typed, though nothing in it is at fault.
KEPT = "_kept"
_KEPT_BELOW = "Nothing was saved: your changes are kept below"
NOT_SAVED = f"{_KEPT_BELOW}."


class WrittenForm(RowForm):
    """An edit of one versioned row. `table` says what may be written; subclasses say how it is stored and checked."""

    seen_version = forms.IntegerField(widget=forms.HiddenInput)
    base = forms.CharField(widget=forms.HiddenInput, required=False)
    reason = forms.CharField(max_length=500, required=False, help_text="Kept in the history, beside your name.")
    table: ClassVar[FieldTable]
    read: Mapping[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stored = self.written()
        self.initial.update(self.stored, seen_version=self.instance.version, base=json.dumps(self.stored))

    @abstractmethod
    def written(self) -> Written:
        """Every field of the table as it is stored."""

    @abstractmethod
    def check(self, changes: Mapping[str, Any]) -> Mapping[str, Any]:
        """The changes as read; raises OperationRefused naming what would be refused."""

    def changes(self) -> dict[str, Any]:
        """What was changed in the form, as operations take it."""
        return changed(self.table, self.stored, self.given())

    def given(self) -> Written:
        """What was sent of the table's fields."""
        return {name: str(self.data.get(name, "")).strip() for name in self.table if name in self.data}

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if overtaken := self.data.get(OVERTAKEN):
            self._tell(overtaken)
        elif KEPT in self.data:
            self.add_error(None, NOT_SAVED)
        elif not self.errors:
            try:
                self.read = self.check(self.changes())
            except OperationRefused as refused:
                for fault in refused.faults:
                    place = fault.path if fault.path in self.fields else None
                    self.add_error(place, fault.message if place else str(fault))
        return cleaned

    def _tell(self, overtaken: str) -> None:
        """Who was first, and at each field both wrote, what is stored now."""
        self.add_error(None, f"{overtaken} {_KEPT_BELOW}, the rest is as it is now.")
        for name in self.changes():
            self.add_error(name, f"Stored now: {self.stored[name] or 'none'}.")

    def _post_clean(self) -> None:
        """The row is written by an operation, not by this form: it is left as it was read."""


def is_overtaken(form: WrittenForm, data: QueryDict) -> bool:
    """Whether the row has moved on since the form was shown."""
    return data.get("seen_version", "") != str(form.instance.version)


def caught_up(form: WrittenForm, data: QueryDict) -> QueryDict:
    """What was sent over an older version: own changes stay, all that was left alone is as it is stored now."""
    base, fresh = _base_of(data), data.copy()
    for name, value in form.stored.items():
        if data.get(name, "").strip() == base.get(name, ""):
            fresh[name] = value
    last = last_change_of(form.instance) or "someone else changed it"
    fresh["seen_version"], fresh["base"] = str(form.instance.version), json.dumps(form.stored)
    fresh[OVERTAKEN] = f"{form.instance} has changed since you opened it: {last}."
    return fresh


def _base_of(data: QueryDict) -> Mapping[str, Any]:
    """The values that the form was shown with."""
    try:
        base = json.loads(data.get("base", ""))
    except (ValueError, RecursionError):
        return {}
    return base if isinstance(base, dict) else {}


def form_of(base: type[WrittenForm], labels: Mapping[str, str]) -> type[WrittenForm]:
    """The form with one text field for each of its table; the help is the field's own words."""
    fields = {name: _field(base.table, name, labels.get(name, "")) for name in base.table}
    made: Any = type(base)
    return cast(type[WrittenForm], made(base.__name__, (base,), {"__module__": base.__module__, **fields}))


def _field(table: FieldTable, name: str, label: str) -> forms.Field:
    field = table[name]
    widget: forms.Widget = forms.TextInput(attrs={"class": "vTextField", "autocomplete": "off"})
    if isinstance(field.kind, Labels):
        widget = forms.Textarea(attrs={"rows": 2, "class": "vLargeTextField"})
    if name == "quota_pool":
        widget = forms.Select()
    return forms.CharField(label=label, required=False, help_text=field.doc.replace("null", "empty"), widget=widget)
