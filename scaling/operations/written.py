"""Fields as people write them in forms: one text each, the same on pages and in the admin. What is meant is judged
by the field tables alone; what can't even be read stays text, for them to refuse."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from scaling.models import Deployment, Group, QuotaPool
from scaling.operations.deployment_fields import EDIT_FIELDS
from scaling.operations.fields import Field, FieldTable
from scaling.operations.group_fields import LIMIT_FIELDS, POOL_FIELDS
from scaling.operations.inputs import Labels, Text, Whole

Written = dict[str, str]


def limits_of(group: Group) -> Written:
    """Every limit of a group; `group.quota_pool` must be loaded."""
    return {name: write(getattr(group, name)) for name in LIMIT_FIELDS}


def fields_of_pool(pool: QuotaPool) -> Written:
    return {name: write(getattr(pool, name)) for name in POOL_FIELDS}


def overrides_of(row: Deployment) -> Written:
    """Every override of a deployment; empty where the Gateway's value is in force."""
    return {name: write(row.overrides.get(name)) for name in EDIT_FIELDS}


def changed(table: FieldTable, stored: Mapping[str, str], given: Mapping[str, str]) -> dict[str, Any]:
    """The fields written differently from what is stored, as operations take them."""
    return {name: read(table[name], given[name]) for name in table if name in given and given[name] != stored[name]}


def write(value: Any) -> str:
    """A stored value as its field is written."""
    if value is None or value == {}:
        return ""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def read(field: Field, text: str) -> Any:
    """What was written, as operations take it; empty is null, or an empty text or object where that is meant."""
    if isinstance(field.kind, Text):
        return text
    if isinstance(field.kind, Labels):
        return _parsed(text or "{}")
    if not text:
        return None
    try:
        return int(text) if isinstance(field.kind, Whole) else float(text)
    except ValueError:
        return text


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
