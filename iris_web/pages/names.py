"""Looking things up by parts of their names: one reading of what was typed, for the search and for the lists."""

from dataclasses import replace

from django.db.models import Q

from iris_web.pages.url_params import PageState

# Each word is looked for in every name there is.
MOST_WORDS = 8


def holding(text: str, *columns: str) -> Q:
    """Rows that have every word of the text, in either case and any order, each in one of these columns."""
    asked = Q()
    for word in words_in(text):
        one = Q()
        for column in columns:
            one |= Q(**{f"{column}__icontains": word})
        asked &= one
    return asked


def words_in(text: str) -> list[str]:
    """What is looked for: each word once, in either case, the first `MOST_WORDS`."""
    return _different(text)[:MOST_WORDS]


def with_words_told(state: PageState) -> PageState:
    """The state, which says so where its search has more words than are looked for."""
    left = _different(state["q"])[MOST_WORDS:]
    if not left:
        return state
    told = f"Search: only the first {MOST_WORDS} words count, without “{' '.join(left)[:60]}”."
    return replace(state, problems={**state.problems, "q": told})


def _different(text: str) -> list[str]:
    found: dict[str, str] = {}
    for word in text.split():
        found.setdefault(word.lower(), word)
    return list(found.values())
