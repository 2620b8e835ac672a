"""Between which two steps a slice was when everything died."""

from dataclasses import dataclass
from enum import StrEnum


class Window(StrEnum):
    """The gaps between the steps of a purchase and of a release."""

    BEFORE_INTENT = "before the intent"
    INTENT = "intent written, not sent"
    CLAIMED = "claimed, not at the cloud yet"
    SENT = "sent, not answered"
    ANSWERED = "answered, not saved"
    SAVED = "saved"
    DELETE_DECIDED = "release decided, not sent"
    DELETE_SENT = "release sent, not answered"
    DELETE_ANSWERED = "release answered, not saved"
    DELETE_SAVED = "release saved"


@dataclass(frozen=True, slots=True)
class SliceFacts:
    """What Iris' row and the cloud's books say of one slice that has not ended in Iris.

    `bought`, `ended`: the cloud has taken the create, the delete. `create_answered`, `delete_answered`: a call that
    found or made it so was answered.
    """

    name: str
    group: str
    state: str
    attempts: int
    delete_asked: bool
    bought: bool
    ended: bool
    create_answered: bool
    delete_answered: bool


def purchase_window(facts: SliceFacts) -> Window:
    """Where its purchase stands; a listing that showed the slice before the answer came saved it as well."""
    if facts.state != "REQUESTING":
        return Window.SAVED
    if facts.bought:
        return Window.ANSWERED if facts.create_answered else Window.SENT
    return Window.CLAIMED if facts.attempts else Window.INTENT


def release_window(facts: SliceFacts) -> Window | None:
    """Where its release stands; None while nobody wants it gone."""
    if not facts.delete_asked:
        return None
    if facts.state == "TERMINATING":
        return Window.DELETE_SAVED
    if facts.ended:
        return Window.DELETE_ANSWERED if facts.delete_answered else Window.DELETE_SENT
    return Window.DELETE_DECIDED
