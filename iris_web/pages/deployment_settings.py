"""A deployment's settings in force as people read them, and where each comes from."""

from dataclasses import dataclass
from typing import Any

from iris_web.live.times import duration_text
from iris_web.pages import words
from scaling.models import Deployment
from scaling.operations import EDIT_FIELDS
from scaling.operations.deployment_fields import From, in_force, source_of
from scaling.operations.labels import EDIT_LABELS as LABELS

SOURCES = {From.OVERRIDE: "set here", From.GATEWAY: "the Gateway's", From.DEFAULT: "the default"}


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting in force, where it comes from, and what the Gateway says where an operator said otherwise."""

    name: str
    label: str
    value: str
    source: str
    gateway: str


def value_text(name: str, value: Any) -> str:
    """A setting as people read it; "none" where nothing is set."""
    if value is None or (name.startswith("target_") and not value):
        return "none"
    if name.endswith("_seconds"):
        return duration_text(value)
    if name == "target_latency_p95_ms":
        return f"{words.number(value)} ms"
    if name == "target_rps":
        return f"{words.number(value)}/s"
    return f"{100 * value:g} %" if name == "tolerance" else words.number(value)


def setting_rows(row: Deployment) -> list[Setting]:
    """Every setting that an operator may set."""
    return [
        Setting(
            name, LABELS[name], value_text(name, in_force(row, name)), SOURCES[source_of(row, name)],
            value_text(name, getattr(row, name)) if source_of(row, name) is From.OVERRIDE else "",
        )
        for name in EDIT_FIELDS
    ]  # fmt: skip
