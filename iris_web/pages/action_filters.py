"""The filters of the history as its page's address has them; lists, exports and live rows read the same."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta

from iris_web.pages import words
from iris_web.pages.action_rows import KINDS
from iris_web.pages.url_params import Kind, PageState, Param, time_text
from scaling import clock
from scaling.audit.matching import Wanted
from scaling.audit.words import phrases
from scaling.models import Action

OUTCOMES = (("", "any"), ("ok", "ok"), ("failed", "failed"), ("refused", "refused"), ("observed", "observed"),
            ("sent", "sent"), ("timeout", "timed out"), ("unknown", "unknown"))  # fmt: skip
BY = (("", "anyone"), ("people", "people and tokens"), ("system", "Iris itself"))
SOURCES = (("", "anywhere"), ("page", "a page"), ("admin", "the admin"), ("api", "the API"), ("shell", "a shell"),
           ("cycle", "Iris itself"))  # fmt: skip
SPANS = (
    ("", "any time"),
    ("1h", "last hour"),
    ("24h", "last 24 hours"),
    ("7d", "last 7 days"),
    ("30d", "last 30 days"),
)
ROUTINE_CHOICES = (("", "hidden"), ("shown", "shown"))
_KIND = Param("kind", "Kind", Kind.CHOICE, (("", "any"), *((kind, words.phrase(kind)) for kind in sorted(KINDS))))
PARAMS: tuple[Param, ...] = (
    Param("q", "Search"),
    _KIND,
    Param("routine", "Routine", Kind.CHOICE, ROUTINE_CHOICES, shown=False),
    Param("outcome", "Outcome", Kind.CHOICE, OUTCOMES),
    Param("by", "By", Kind.CHOICE, BY),
    Param("source", "From where", Kind.CHOICE, SOURCES),
    Param("actor", "Actor"),
    Param("group", "Group"),
    Param("slice", "Slice"),
    Param("job", "Job"),
    Param("target", "Target"),
    Param("cycle", "Cycle", Kind.NUMBER),
    Param("cause", "Cause", Kind.NUMBER),
    Param("span", "Time", Kind.SPAN),
    Param("from", "From", Kind.TIME),
    Param("to", "To", Kind.TIME),
    Param("after", "Place", Kind.CURSOR, shown=False),
    Param("before", "Place", Kind.CURSOR, shown=False),
)
_EXACT = ("kind", "outcome", "source", "actor", "group", "slice", "job", "target")
# The filters that take any name, and what is said of a name that the history does not have.
_NAMES = {
    "actor": "No action is by “{}”.",
    "group": "No action is about a group “{}”.",
    "slice": "No action is about a slice “{}”.",
    "job": "No action is about a job “{}”.",
    "target": "No action has the target “{}”.",
}


def kind_choices() -> list[str]:
    return [kind for kind, _ in _KIND.choices if kind]


def read(given: Mapping[str, str]) -> PageState:
    """The state of an address. A kind that only the history knows is one as well."""
    kind = given.get("kind", "").strip()
    params = PARAMS
    if kind and kind not in dict(_KIND.choices) and was_written(kind):
        named = replace(_KIND, choices=(*_KIND.choices, (kind, words.phrase(kind))))
        params = tuple(named if param is _KIND else param for param in PARAMS)
    state = PageState.read(params, given).placed(_is_place)
    return replace(state, problems={**state.problems, **_wordless(state), **_backwards(state)})


def _wordless(state: PageState) -> dict[str, str]:
    text = state["q"]
    if not text or phrases(text):
        return {}
    return {"q": f"Search: “{text}” has no letters or digits to look for."}


def _backwards(state: PageState) -> dict[str, str]:
    """What is told where the times leave no moment; the list is empty then, which is not explained by itself."""
    asked = wanted(state)
    if asked.since is None or asked.until is None or asked.since < asked.until:
        return {}
    ends, nothing = time_text(asked.until), "so no action can lie between them."
    if asked.since != state.time("from"):
        span = dict(SPANS).get(state["span"], f"last {state['span']}")
        return {"to": f"The {span} began after {ends}, {nothing}"}
    if asked.since == asked.until:
        return {
            "to": f"From and to are the same moment, {ends}, {nothing} For a whole day, choose the next as its end."
        }
    return {"to": f"From {time_text(asked.since)} is later than to {ends}, {nothing}"}


def was_written(kind: str) -> bool:
    """Whether the history has any action of this kind."""
    return "\x00" not in kind and Action.objects.filter(kind=kind).exists()


def wanted(state: PageState) -> Wanted:
    """What the filters leave; routine actions only where a kind is chosen or they are asked for."""
    span: timedelta | None = state.span("span")
    # From a whole minute, so that all parts of a page mean the same moment.
    minute = clock.now().replace(second=0, microsecond=0)
    starts = [moment for moment in (state.time("from"), minute - span if span else None) if moment]
    return Wanted(
        exact={name: state[name] for name in _EXACT if state[name]},
        text=state["q"],
        people={"people": True, "system": False}.get(state["by"]),
        routine=bool(state["kind"]) or state["routine"] == "shown" or bool(state["cause"]),
        cycle=state.number("cycle"),
        cause=state.number("cause"),
        since=max(starts, default=None),
        until=state.time("to"),
    )


def place(state: PageState, name: str) -> int | None:
    """The id that a cursor stands for; None for no cursor, or one that no page gave out."""
    return int(state[name]) if _is_place(state[name]) else None


def _is_place(cursor: str) -> bool:
    return cursor.isascii() and cursor.isdigit() and len(cursor) < 19


def unknown_names(state: PageState) -> Iterator[str]:
    """A sentence for each name among the filters that no action has. One look-up each."""
    for name, sentence in _NAMES.items():
        if state[name] and not Action.objects.filter(**{name: state[name]}).exists():
            yield sentence.format(state[name])
