"""The rows that a page of the admin goes on with, in one hidden field: `id:version id:version …`.

With a field for each row, a page for many would have more fields than a request may (DATA_UPLOAD_MAX_NUMBER_FIELDS).
"""

import re
from collections.abc import Iterable
from typing import Any

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.http import HttpRequest

FIELD = "chosen"
_ROW = re.compile(r"([0-9]{1,18}):([0-9]{1,9})", re.ASCII)


def folded(rows: Iterable[Any]) -> str:
    """The value of the field for rows with a `pk` and a `version`."""
    return " ".join(f"{row.pk}:{row.version}" for row in rows)


def unfold(request: HttpRequest) -> None:
    """Put the rows where the admin looks for what was ticked, and each version into `version_<id>`."""
    if FIELD not in request.POST:
        return
    rows = [found.groups() for text in request.POST[FIELD].split() if (found := _ROW.fullmatch(text))]
    posted = request.POST.copy()
    posted.setlist(ACTION_CHECKBOX_NAME, [pk for pk, _ in rows])
    for pk, version in rows:
        posted[f"version_{pk}"] = version
    request.POST = posted  # type: ignore[assignment]
