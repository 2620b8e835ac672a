"""What has left into archives, as the history itself tells: each archive is one action of this kind."""

from scaling.models import Action

ARCHIVE_KIND = "archive_actions"


def latest_archive() -> Action | None:
    found: Action | None = Action.objects.filter(kind=ARCHIVE_KIND).order_by("-id").first()
    return found


def removed_through() -> int:
    """The id up to which actions have left, or are leaving; 0 where none have."""
    latest = latest_archive()
    told = latest.after if latest is not None and isinstance(latest.after, dict) else {}
    return int(told.get("through_id", 0))
