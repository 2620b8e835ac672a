"""The registry of live fragments: parts of pages that are rendered again when their topics change.

A fragment is one partial template, used by the page and by the feed alike; `docs/live.md` shows how to declare one.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from iris_web.access import Act, Role, may
from scaling.feed import FeedEvent

Params = Mapping[str, str]
Context = Mapping[str, Any]

MAX_PARAM_CHARS = 2000
# Stands for the token in forms of a fragment that is rendered once for all: each page puts its own in its place.
CSRF_PLACEHOLDER = "live"


class BadFragment(ValueError):
    """Raised for a fragment that does not exist, parameters it does not take, or a role that may not see it."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of a page that is rendered again, whole, when an event reaches one of its topics.

    `context(params, role)` gives what `template` needs; both page and feed call it. `topics` is a fixed set or a
    function of the parameters. Output depends on nothing but the parameters, the role and what is stored: it is
    rendered once per process and sent to everyone who shows it.
    """

    name: str
    template: str
    context: Callable[[Params, Role], Context]
    topics: Collection[str] | Callable[[Params], Collection[str]]
    params: frozenset[str] = frozenset()
    act: Act = Act.VIEW

    def topics_of(self, params: Params) -> frozenset[str]:
        return frozenset(self.topics(params) if callable(self.topics) else self.topics)

    def render(self, params: Params, role: Role, csrf_token: str = CSRF_PLACEHOLDER) -> SafeString:
        """The inside of the fragment's element. Errors of `context` come through."""
        return _render(self.template, self.context(params, role), params, role, csrf_token)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a list: the id of its element, unique in the page, and what the row template needs."""

    id: str
    context: Context


@dataclass(frozen=True, slots=True)
class ListFragment(Fragment):
    """A list that only grows at its top: new rows are sent alone, and wait behind "12 new" while someone reads.

    `rows(params, role, events)` gives the rows that these events brought, oldest first, after the page's filters.
    """

    row_template: str = ""
    rows: Callable[[Params, Role, Sequence[FeedEvent]], Iterable[Row]] = lambda _params, _role, _events: ()

    def render_rows(self, params: Params, role: Role, events: Sequence[FeedEvent]) -> list[tuple[str, str]]:
        """(element id, HTML) of each new row, oldest first."""
        return [
            (row.id, _render(self.row_template, row.context, params, role, CSRF_PLACEHOLDER))
            for row in self.rows(params, role, events)
        ]


@dataclass(frozen=True, slots=True)
class Key:
    """One fragment with its parameters as one role sees it: what is rendered once and sent to many."""

    name: str
    params: tuple[tuple[str, str], ...]
    role: Role

    @property
    def element_id(self) -> str:
        """The id of its element in every page, the same for all roles."""
        digest = hashlib.sha256(json.dumps(self.params).encode()).hexdigest()[:10] if self.params else ""
        return "-".join(filter(None, ["live", self.name.replace(".", "-").replace("_", "-"), digest]))


_registry: dict[str, Fragment] = {}


def register(*fragments: Fragment) -> None:
    """Make fragments known by their names. A name is given once."""
    for fragment in fragments:
        known = _registry.setdefault(fragment.name, fragment)
        if known is not fragment:
            raise ValueError(f"live fragment {fragment.name!r} is registered twice")


def names() -> list[str]:
    return sorted(_registry)


def lookup(name: str, params: Mapping[str, Any], role: Role) -> tuple[Fragment, Key]:
    """The fragment of that name and its key, after all checks; raises BadFragment. `params` may come from a client."""
    fragment = _registry.get(name)
    if fragment is None:
        raise BadFragment(f"fragment: no such fragment {name[:80]!r}")
    if not may(role, fragment.act):
        raise BadFragment(f"fragment: your role may not see {name!r}")
    unknown = sorted(set(params) - fragment.params)
    if unknown:
        raise BadFragment(f"fragment {name!r}: unknown parameter {unknown[0]!r}")
    for key, value in params.items():
        if not isinstance(value, str) or len(value) > MAX_PARAM_CHARS or "\x00" in value:
            raise BadFragment(f"fragment {name!r}: {key}: expected a text of at most {MAX_PARAM_CHARS} characters")
    return fragment, Key(name, tuple(sorted(params.items())), role)


def _render(template: str, context: Context, params: Params, role: Role, csrf_token: str) -> SafeString:
    given = {"role": role, "may": {act.value: may(role, act) for act in Act}, "params": params}
    return render_to_string(template, {**given, **context, "csrf_token": csrf_token})
