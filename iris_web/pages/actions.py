"""`/actions/`: who or what did this? The append-only history, newest first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.http import HttpRequest, HttpResponse, QueryDict

from iris_web.access import Act, Role, require
from iris_web.live.fragments import Context, ListFragment, Params, Row, register
from iris_web.pages import action_costs, action_filters, routine, words
from iris_web.pages.action_filters import BY, OUTCOMES, PARAMS, SOURCES, SPANS
from iris_web.pages.action_rows import KINDS, action_rows
from iris_web.pages.shell import render_page
from iris_web.pages.url_params import PageState
from scaling import clock
from scaling.audit import matching
from scaling.audit.actors import known_actors
from scaling.audit.cost import cost_of
from scaling.audit.matching import Newest
from scaling.feed import FeedEvent
from scaling.once import asking_once

__all__ = ["PARAMS"]

PAGE_SIZE = 50
# Of so many of the newest the summary tells the kinds; where there are more, it says that.
COUNTED = 500
# So many kinds are named in the summary.
KINDS_NAMED = 5
# So many names are offered for the filter of actors; it takes any.
ACTORS_OFFERED = 200
# The cost is summed over so many of the newest.
COSTED = 50
# Of so many slices at most, which is said.
COSTED_SLICES = 500


def view(request: HttpRequest) -> HttpResponse:
    require(request, Act.VIEW)
    state = action_filters.read(request.GET)
    with asking_once():
        looked = look(state)
        context = {
            "state": state,
            "kinds": _kind_options(state),
            "outcomes": OUTCOMES,
            "by": BY,
            "spans": SPANS,
            "sources": SOURCES,
            "actors": known_actors(ACTORS_OFFERED),
            "summary": summary(state, looked),
            "cost": cost(looked) if state.filtered else "",
            "export": state.address(after="", before=""),
            "routine": "" if state["kind"] or state["cause"] else routine.told(looked.routine),
            "routine_shown": state["routine"] == "shown",
            "routine_address": state.address(routine="" if state["routine"] else "shown"),
        }
        return render_page(request, "pages/actions.html", context, nav="actions")


def _state(params: Params) -> PageState:
    return action_filters.read(QueryDict(params.get("query", "")))


@dataclass(frozen=True, slots=True)
class Look:
    """The newest that the filters leave, up to one more than `COUNTED`, and how many routine actions are among all.

    `routine` is None where the history has too many to know.
    """

    these: Newest
    routine: Mapping[str, int] | None


def look(state: PageState) -> Look:
    """One question where that finds all there is, or nothing of routine; else one more for what is left to count."""
    wanted = action_filters.wanted(state)
    everything = matching.newest(replace(wanted, routine=True), COUNTED + 1)
    counted = everything.kinds if everything.whole else None
    if wanted.routine:
        return Look(everything, counted)
    these = [(pk, kind) for pk, kind in everything.found if kind not in routine.ROUTINE]
    if everything.whole:
        found = Newest(these, whole=True)
        matching.remember(wanted, found)
        return Look(found, counted)
    return Look(matching.newest(wanted, COUNTED + 1, these, everything.found[-1][0]), counted)


def _kind_options(state: PageState) -> list[tuple[str, str]]:
    """(kind, its words), all that there can be: without numbers, which the next act would make wrong."""
    return sorted(((kind, words.phrase(kind)) for kind in {*KINDS, state["kind"]} - {""}), key=lambda option: option[1])


@dataclass(frozen=True, slots=True)
class Summary:
    """What the list holds: how many actions, and of which kinds; `more`: there are more than were counted."""

    number: int
    more: bool
    kinds: list[tuple[str, int]]
    other_kinds: int


def summary(state: PageState, looked: Look) -> Summary:
    """The list in a sentence; the kinds where not one was chosen."""
    counted = replace(looked.these, found=looked.these.found[:COUNTED])
    kinds = counted.kinds
    named = [] if state["kind"] else kinds.most_common(KINDS_NAMED)
    return Summary(kinds.total(), not looked.these.whole, named, len(kinds) - len(named) if named else 0)


def cost(looked: Look) -> str:
    """What the newest of the list cost together."""
    newest = matching.rows([pk for pk, _ in looked.these.found[:COSTED]], whole=False)
    found = cost_of(newest, clock.now(), COSTED_SLICES)
    if found is None or not found.slices:
        return ""
    of = f"The newest {COSTED}: " if len(looked.these.found) > COSTED else ""
    return f"{of}{action_costs.told(found)}. {action_costs.caveats(found)}".strip()


def listing(params: Params, _role: Role) -> Context:
    """One page of the history by key. Two queries, and one for each name among the filters where nothing is found."""
    state = _state(params)
    after, before = (action_filters.place(state, name) for name in ("after", "before"))
    found = matching.page(action_filters.wanted(state), PAGE_SIZE, after, before)
    return {
        "state": state,
        "rows": action_rows(matching.rows(found.ids, whole=False)),
        "next": state.address(after=str(found.ids[-1])) if found.ids and found.older else "",
        "previous": state.address(before=str(found.ids[0])) if found.ids and found.newer else "",
        "newest": state.address() if found.newer else "",
        "oldest": state.address(before="0") if found.older else "",
        "first_page": after is None and before is None,
        "unknown": [] if found.ids else list(action_filters.unknown_names(state)),
        "may_hide": not state["kind"] and state["routine"] != "shown",
        "with_routine": state.address(routine="shown"),
    }


def _new_rows(params: Params, _role: Role, events: Sequence[FeedEvent]) -> Iterable[Row]:
    """New actions that the filters leave; an older page gets none. Two queries."""
    state = _state(params)
    told = [event.payload.get("id") for event in events if event.kind == "action"]
    if state["after"] or state["before"]:
        return ()
    fitting = matching.among(action_filters.wanted(state), [pk for pk in told if isinstance(pk, int)])
    rows = reversed(action_rows(matching.rows(fitting, whole=False)))
    return [Row(f"action-{row.action.pk}", {"row": row}) for row in rows]


register(
    ListFragment("actions.list", "partials/action_rows.html", listing, {"actions"}, frozenset({"query"}),
                 row_template="partials/action_row.html", rows=_new_rows),
)  # fmt: skip
