"""What a preview says in words: groups that it touches alike in one line, with the words of states."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from iris_web.pages import halts, states
from iris_web.pages.words import plural
from scaling.previews import GroupEffect

NAMED = 5


@dataclass(slots=True)
class Folded:
    """Groups that a change treats alike: how many, and the names of the first."""

    text: str
    names: list[str] = field(default_factory=list)
    number: int = 0

    @property
    def more(self) -> int:
        return self.number - len(self.names)


def folded(effects: Iterable[GroupEffect]) -> list[Folded]:
    """One line for each way in which groups act differently, in the order in which the ways come first."""
    found: dict[str, Folded] = {}
    for effect in effects:
        text = told(effect)
        line = found.setdefault(text, Folded(text))
        line.number += 1
        if len(line.names) < NAMED:
            line.names.append(effect.name)
    return list(found.values())


def told(effect: GroupEffect) -> str:
    """`asks for 2 new slices; capacity exceeded → available`."""
    parts = [_asks(effect)] if effect.asks_more or effect.asks_fewer else []
    if effect.outcome_before != effect.outcome_after:
        before = _word(effect.outcome_before, effect.halted_before)
        parts.append(f"{before} → {_word(effect.outcome_after, effect.halted_after)}")
    if effect.observed:
        parts.append("its platform is only observed, nothing is sent")
    return "; ".join(parts)


def _asks(effect: GroupEffect) -> str:
    asks = plural(effect.asks_after, "new slice") if effect.asks_after else "no new slice"
    return f"asks for {asks} instead of {effect.asks_before:,}" if effect.asks_before else f"asks for {asks}"


def _word(outcome: str, halted: bool) -> str:
    code = halts.HALTED if outcome == halts.PAUSED and halted else outcome
    return states.look("group", code).word


def reason_words(reason: str) -> str:
    """A hint's reason with the plain word for its code before it: `groups blocked: tpu-v5p-8 STOCKOUT`."""
    code, colon, text = reason.partition(": ")
    return f"{states.HINT[code].word}: {text}" if colon and code in states.HINT else reason
