"""`manage.py verify_actions [--head HASH] [--archive FILE …] [--archives-elsewhere]`: is the history as it was sealed?

Ends with 0: all of it is there, in the table or the files given. With 1: it is not as it was sealed. With 3: what is in
the table is, but actions have left it, and no file that was given shows them.
"""

import re
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from scaling.audit.archive_file import ArchiveError, Contents, reach, verify_archive
from scaling.audit.archives import Recorded
from scaling.audit.verifying import Broken, Report, verify
from scaling.counting import counted
from scaling.management.base import IrisCommand

NOT_SHOWN = 3


class Command(IrisCommand):
    help = (
        "Verifies the history of actions against its seals. Ends with 0; with 1 and the first broken row; with 3 where "
        "actions have left into archives that were not given."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--head",
            default="",
            metavar="HASH",
            help="the hash of a seal that was kept elsewhere, or how it begins: 8 digits or more",
        )
        parser.add_argument(
            "--archive", type=Path, action="extend", nargs="+", default=[], metavar="FILE",
            help="verify these archives against the chain as well",
        )  # fmt: skip
        parser.add_argument(
            "--archives-elsewhere", action="store_true",
            help="take it that the archives not given are kept elsewhere: end with 0 without them",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        started = time.perf_counter()
        try:
            report = verify(_head(options["head"]))
            given = {path: verify_archive(path) for path in options["archive"]}
        except (Broken, ArchiveError) as broken:
            raise CommandError(str(broken)) from None
        self.stdout.write(told(report, time.perf_counter() - started))
        for path, contents in given.items():
            self.stdout.write(f"The archive {path} is whole: {counted(contents.actions, 'action')} as sealed.")
        missing = not_shown(report, list(given.values()))
        if missing and not options["archives_elsewhere"]:
            raise CommandError(missing, returncode=NOT_SHOWN)


def _head(text: str) -> str:
    """A hash, or how one begins; a typing error must not read as a history that was tampered with."""
    head = text.strip().lower()
    if head and not re.fullmatch(r"[0-9a-f]{8,64}", head):
        raise CommandError(
            f"--head: expected the 64 hexadecimal digits of a seal, or its first 8 or more, got {text[:80]!r}"
        )
    return head


def told(report: Report, seconds: float) -> str:
    """The counts, in a few lines."""
    if not report.seals:
        waiting = counted(report.unsealed, "action waits", "actions wait")
        return f"Nothing is sealed yet; {waiting} for the first seal."
    what = "What is in the table" if report.archived else "The history"
    lines = [
        f"{what} is as it was sealed: {counted(report.seals, 'seal')}"
        f" over {counted(report.actions, 'action')}, verified in {seconds:.1f} s"
        f" ({report.actions / max(seconds, 1e-6):,.0f} a second).",
        f"Head: {report.head} (seal {report.seals}, up to action {report.through_id}).",
        f"{report.archived:,} of them have left into archives"
        + (f", the oldest, up to action {report.gone_through}." if report.archived else "."),
        *(_told_of(one) for one in report.archives),
        f"{counted(report.unsealed, 'newer action is', 'newer actions are')} not sealed yet.",
    ]
    return "\n".join(lines)


def _told_of(one: Recorded) -> str:
    act = one.action
    return (
        f"Archive recorded by action {act.pk}: {act.target}, up to action {one.through_id} (seal {one.last_seal}), by"
        f" {act.actor} at {act.at:%Y-%m-%d %H:%M}Z, SHA-256 {(act.after or {}).get('sha256', 'not told')}."
    )


def not_shown(report: Report, given: list[Contents]) -> str:
    """The sentence for actions that are neither in the table nor in an archive given; "" where none are."""
    shown = reach(given)
    if shown >= report.gone_through:
        return ""
    return (
        f"Actions {f'after {shown} ' if shown else ''}up to {report.gone_through} are not in the table, and no archive"
        " that was given has them: give each with --archive FILE, or say --archives-elsewhere."
    )
