"""`manage.py verify_actions [--head HASH] [--archive FILE]`: is the history as it was sealed?"""

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scaling.audit.archive_file import ArchiveError, verify_archive
from scaling.audit.verifying import Broken, Report, verify


class Command(BaseCommand):
    help = "Verifies the history of actions against its seals; names the first broken row and ends with 1."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--head", default="", metavar="HASH", help="the hash of a seal that was kept elsewhere")
        parser.add_argument(
            "--archive", type=Path, metavar="FILE", help="verify this archive against the chain as well"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        started = time.perf_counter()
        try:
            report = verify(options["head"].strip().lower())
            archived = verify_archive(options["archive"]) if options["archive"] else None
        except (Broken, ArchiveError) as broken:
            raise CommandError(str(broken)) from None
        self.stdout.write(told(report, time.perf_counter() - started))
        if archived is not None:
            self.stdout.write(
                f"The archive {options['archive']} is whole: {archived.actions:,} actions as they were sealed."
            )


def told(report: Report, seconds: float) -> str:
    """The counts, in a few lines."""
    if not report.seals:
        return f"Nothing is sealed yet; {report.unsealed:,} actions wait for their first seal."
    lines = [
        f"The history is as it was sealed: {report.seals:,} seals over {report.actions:,} actions, verified in"
        f" {seconds:.1f} s ({report.actions / max(seconds, 1e-6):,.0f} a second).",
        f"Head: {report.head} (seal {report.seals}, up to action {report.through_id}).",
    ]
    if report.archived:
        lines.append(f"{report.archived:,} of them have left into archives: verify those with --archive FILE.")
    lines.append(f"{report.unsealed:,} newer actions are not sealed yet.")
    return "\n".join(lines)
