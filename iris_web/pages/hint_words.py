"""The planner's words for a job that waits, completed for people: what it calls PAUSED, and what lasts longer.

A stored reason names each group with its outcome, the first check that fails. Pages say beside it which pause it is,
and what goes on when that check is over.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from iris_web.pages import halts
from iris_web.pages.lasting import behind_of
from scaling import clock
from scaling.models import Hint
from scaling.previews.halt_words import beside

# Of a hint so many groups are named in its reason.
NAMED = 5


@dataclass(frozen=True, slots=True)
class Completed:
    """`behind`: what to say after `<group> <OUTCOME>` in a reason."""

    halted: bool = False
    behind: Mapping[str, str] = field(default_factory=dict)

    def text(self, hint: Hint) -> str:
        """The reason without the code that it begins with."""
        words = hint.reason.removeprefix(f"{hint.code}: ")
        for item in hint.blocked_by[:NAMED]:
            said = f"{item['group']} {item['outcome']}"
            more = self.behind.get(said)
            if more:
                words = _after(words, said, more)
        return beside(words, halted=self.halted)


def _after(words: str, said: str, more: str) -> str:
    """The words with `more` behind `said`, where that stands as a whole and not as the end of a longer name."""
    start = words.find(said)
    while start > 0 and not words[start - 1].isspace():
        start = words.find(said, start + 1)
    end = start + len(said)
    return words if start < 0 else f"{words[:end]} ({more}){words[end:]}"


def completed(hints: Iterable[Hint]) -> Completed:
    """For the hints of a page. Two queries at most: whether all is halted, and how the groups that they name stand."""
    found, now = list(hints), clock.now()
    halted = halts.halts_any(hint.reason for hint in found)
    names = [str(item["group"]) for hint in found for item in hint.blocked_by[:NAMED]]
    standing = behind_of(names, now) if names else {}
    return Completed(halted, {f"{name} {code}": more.told(now) for name, (code, more) in standing.items()})
