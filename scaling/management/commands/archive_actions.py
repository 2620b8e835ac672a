"""`manage.py archive_actions --before DATE FILE`: old actions leave into a sealed file."""

from argparse import ArgumentParser, ArgumentTypeError
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from scaling import clock
from scaling.audit.archive_file import ArchiveError
from scaling.audit.archiving import archive
from scaling.audit.verifying import Broken
from scaling.counting import counted
from scaling.management.base import IrisCommand
from scaling.management.shell_acts import shell_user


def moment(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a date such as 2026-01-31, got {text!r}") from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


class Command(IrisCommand):
    help = (
        "Moves sealed actions older than a date into a file (JSON lines, gzip); the same again takes up what broke off."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--before", required=True, type=moment, metavar="DATE", help="only what is older (UTC)")
        parser.add_argument("--reason", default="", help="why, for the history")
        parser.add_argument("file", type=Path, metavar="FILE", help="where to, such as actions-2026-01.jsonl.gz")

    def handle(self, *args: Any, **options: Any) -> None:
        before: datetime = options["before"]
        if before > clock.now():
            raise CommandError(f"--before: expected a time in the past, got {before.isoformat()}")
        try:
            done = archive(shell_user(), before, options["file"], options["reason"])
        except (ArchiveError, Broken) as refusal:
            raise CommandError(str(refusal)) from None
        held, now = done.contents, " now" if done.resumed else ""
        self.stdout.write(
            f"{options['file']} holds {counted(held.actions, 'action')} under {counted(held.seals, 'seal')}, up to"
            f" action {held.through_id}, and was verified; {done.removed:,} left the table{now}."
        )
