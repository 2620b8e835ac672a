"""When to kill: for each window how it is recognised, what holds it open, and how long to wait inside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.torture.windows import SliceFacts, Window, purchase_window, release_window


@dataclass(frozen=True, slots=True)
class Sight:
    """What is seen at one moment: the new round's slices, those of rounds withdrawn before, and the cycle's listing."""

    bought: Sequence[SliceFacts]
    leaving: Sequence[SliceFacts]
    is_listing: bool

    def hit(self) -> dict[Window, list[str]]:
        """The slices in each window, by name."""
        found: dict[Window, list[str]] = {}
        for facts in self.bought:
            found.setdefault(purchase_window(facts), []).append(facts.name)
        for facts in self.leaving:
            if window := release_window(facts):
                found.setdefault(window, []).append(facts.name)
        return found


class Hold(StrEnum):
    """Whose writes wait until the kill."""

    NOBODY = "nobody"
    IRIS = "iris"
    BOOKS = "books"


Condition = Callable[[Sight], bool]


def _always(_sight: Sight) -> bool:
    return True


def _listing(sight: Sight) -> bool:
    return sight.is_listing


def _seen(window: Window) -> Condition:
    return lambda sight: window in sight.hit()


@dataclass(frozen=True, slots=True)
class Aim:
    """Wait for `first`, make `hold` wait, wait for `then`, wait at most `within_seconds` more, kill."""

    window: Window
    first: Condition
    within_seconds: float
    hold: Hold = Hold.NOBODY
    then: Condition = _always

    @property
    def is_release(self) -> bool:
        return self.window.value.startswith("release")


AIMS: tuple[Aim, ...] = (
    Aim(Window.BEFORE_INTENT, _always, 0.9),
    Aim(Window.BEFORE_INTENT, _listing, 0.3),
    Aim(Window.INTENT, _seen(Window.INTENT), 0.05, Hold.IRIS),
    Aim(Window.CLAIMED, _seen(Window.INTENT), 0.1, Hold.BOOKS, _seen(Window.CLAIMED)),
    Aim(Window.SENT, _seen(Window.SENT), 0.4),
    Aim(Window.SENT, _seen(Window.SENT), 0.05),
    Aim(Window.ANSWERED, _seen(Window.SENT), 0.1, Hold.IRIS, _seen(Window.ANSWERED)),
    Aim(Window.ANSWERED, _seen(Window.SENT), 0.5, Hold.IRIS, _seen(Window.ANSWERED)),
    Aim(Window.SAVED, _seen(Window.SAVED), 1.0),
    Aim(Window.DELETE_DECIDED, _seen(Window.DELETE_DECIDED), 0.05, Hold.IRIS),
    Aim(Window.DELETE_DECIDED, _seen(Window.DELETE_DECIDED), 0.15, Hold.BOOKS),
    Aim(Window.DELETE_SENT, _seen(Window.DELETE_SENT), 0.4),
    Aim(Window.DELETE_ANSWERED, _seen(Window.DELETE_SENT), 0.2, Hold.IRIS, _seen(Window.DELETE_ANSWERED)),
    Aim(Window.DELETE_SAVED, _seen(Window.DELETE_SAVED), 0.5),
)
