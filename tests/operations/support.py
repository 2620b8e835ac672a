"""What several tests of operations look at: the last act, and what the feed was told."""

from scaling.models import Action, Event


def last_action() -> Action:
    row: Action = Action.objects.order_by("-pk")[0]
    return row


def topics() -> set[str]:
    """The topics of all events so far, those of the history left out."""
    return set(Event.objects.exclude(kind__in=("action", "effect")).values_list("topic", flat=True))


def nothing_happened() -> bool:
    return not Action.objects.exists() and not Event.objects.exists()
