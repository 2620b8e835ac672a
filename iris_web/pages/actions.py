"""`/actions/`: who or what did this? The append-only history, newest first."""

from collections import Counter
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
from scaling.audit.cost import cost_of
from scaling.audit.matching import Newest
from scaling.feed import FeedEvent
from scaling.once import asking_once

__all__ = ["PARAMS"]

PAGE_SIZE = 50
# Actions are counted by kind over so many of the newest that the other filters leave.
COUNTED = 500
# So many kinds are named in the summary.
KINDS_NAMED = 5
# The cost is summed over so many of the newest.
COSTED = 50
# Of so many slices at most, which is said.
COSTED_SLICES = 500


def view(request: HttpRequest) -> HttpResponse:
    require(request, Act.VIEW)
    state = action_filters.read(request.GET)
    with asking_once():
        looked = look(state)
        counts = looked.others.kinds
        context = {
            "state": state,
            "kinds": _kind_options(state, counts),
            "outcomes": OUTCOMES,
            "by": BY,
            "spans": SPANS,
            "sources": SOURCES,
            "summary": summary(state, looked),
            "cost": cost(looked),
            "export": state.address(after="", before=""),
            "counted": None if looked.others.whole else COUNTED,
            "routine": "" if state["kind"] else routine.told(counts),
            "routine_shown": state["routine"] == "shown",
            "routine_address": state.address(routine="" if state["routine"] else "shown"),
        }
        return render_page(request, "pages/actions.html", context, nav="actions")


def _state(params: Params) -> PageState:
    return action_filters.read(QueryDict(params.get("query", "")))


@dataclass(frozen=True, slots=True)
class Look:
    """The newest `COUNTED` that all filters but kind and routine leave, and of what all leave the newest.

    `these` is None where nothing is filtered: a sum over all the history says nothing.
    """

    others: Newest
    these: Newest | None


def look(state: PageState) -> Look:
    """One question where it finds all there is, however much it had to read for that; else one more."""
    wanted = action_filters.wanted(state)
    everything = matching.but(replace(wanted, routine=True), "kind")
    others = matching.newest(everything, COUNTED)
    if others.whole:
        kind = wanted.exact.get("kind")
        these = [
            (pk, one)
            for pk, one in others.found
            if (wanted.routine or one not in routine.ROUTINE) and kind in (None, one)
        ]
        matching.remember(wanted, Newest(these, whole=True))
    if not state.filtered:
        return Look(others, None)
    return Look(others, matching.newest(wanted, COUNTED if "kind" in wanted.exact else PAGE_SIZE + 1))


def _kind_options(state: PageState, counts: Mapping[str, int]) -> list[tuple[str, str, int]]:
    """(kind, its words, how many), those there are first."""
    kinds = {*KINDS, *counts, state["kind"]} - {""}
    named = [(kind, words.phrase(kind), counts.get(kind, 0)) for kind in kinds]
    return sorted(named, key=lambda option: (not option[2], option[1]))


@dataclass(frozen=True, slots=True)
class Summary:
    """What the list holds: how many actions (`of_newest`: only so many were looked at), and of which kinds."""

    number: int
    of_newest: bool
    kinds: list[tuple[str, int]]
    other_kinds: int


def summary(state: PageState, looked: Look) -> Summary:
    """The list in a sentence, from the counts by kind; those of a chosen kind are counted for themselves."""
    if state["kind"] and looked.these is not None:
        return Summary(len(looked.these.found), of_newest=not looked.these.whole, kinds=[], other_kinds=0)
    with_routine = action_filters.wanted(state).routine
    left = Counter({kind: n for kind, n in looked.others.kinds.items() if with_routine or kind not in routine.ROUTINE})
    named = left.most_common(KINDS_NAMED)
    return Summary(left.total(), not looked.others.whole, named, len(left) - len(named))


def cost(looked: Look) -> str:
    """What the newest of the list cost together, where someone filtered."""
    if looked.these is None:
        return ""
    newest = matching.rows([pk for pk, _ in looked.these.found[:COSTED]], whole=False)
    found = cost_of(newest, clock.now(), COSTED_SLICES)
    if found is None or not found.slices:
        return ""
    of = f"The newest {COSTED}: " if len(newest) == COSTED else ""
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
