"""`manage.py import_cluster FILE [--dry-run]`: groups, quota pools and platform of an Iris cluster file."""

import getpass
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from typing import Any

from scaling.cluster_import import Change, ImportReport, import_cluster
from scaling.clusterfile import ClusterImport
from scaling.history import Actor
from scaling.management.base import IrisCommand
from scaling.management.cluster_files import load_cluster
from scaling.management.scenario_files import BAD_FILE_EXIT, BadFile
from scaling.models import Source
from scaling.operations.errors import OperationError


class Command(IrisCommand):
    help = "Makes or updates scaling groups from an Iris cluster file; says what it made, changed, did not understand."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="the cluster file (YAML or JSON)")
        parser.add_argument("--dry-run", action="store_true", help="say what would be done, write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        """A file that cannot be used is one line on standard error and exit 2; then nothing is written."""
        try:
            parsed = load_cluster(options["file"])
            report = import_cluster(_actor(), parsed, dry_run=options["dry_run"])
        except (BadFile, OperationError) as error:
            self.stderr.write(str(error))
            sys.exit(BAD_FILE_EXIT)
        for line in report_lines(parsed, report, dry_run=options["dry_run"]):
            self.stdout.write(line)


def report_lines(parsed: ClusterImport, report: ImportReport, *, dry_run: bool = False) -> Iterator[str]:
    """The report in words, one line per thing."""
    for what in ("platform", "quota pool", "group"):
        yield from _listed("made", what, [_made_line(change) for change in report.made(what)])
        yield from _listed("changed", what, [_changed_line(change) for change in report.changed(what)])
    if report.unchanged:
        yield f"unchanged: {_counted(len(report.unchanged), 'group')}"
    if report.left_alone:
        yield f"not in the file, left alone: {', '.join(report.left_alone)}"
    yield from _listed("did not understand", "key", list(parsed.not_understood))
    notes = [*parsed.warnings, *([report.period.words()] if report.period else [])]
    yield from (f"note: {note}" for note in notes)
    if dry_run:
        yield "dry run: nothing was written"


def _listed(done: str, what: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"{done} {_counted(len(lines), what)}:"
        yield from (f"  {line}" for line in lines)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _made_line(change: Change) -> str:
    if change.what == "platform":
        simulated = ", simulated (no client of its own yet)" if change.after.get("simulated") else ""
        return f"{change.name}: mode {change.after['mode']}{simulated}"
    if change.what == "group":
        return f"{change.name}: {_group_words(change.after)}"
    return change.name


def _group_words(group: Mapping[str, Any]) -> str:
    device = group.get("device_variant") or group["device_type"]
    workers = _counted(group["workers_per_slice"], "worker")
    tier = f" tier {group['allocation_tier']}" if group.get("allocation_tier") is not None else ""
    pool = f", pool {group['quota_pool']}{tier}" if group.get("quota_pool") else ""
    numbers = f"priority {group['priority']}, buffer {group['buffer_slices']}, max {group['max_slices']}"
    return f"{device} × {workers}, {group['capacity_type']}, {numbers}{pool}"


def _changed_line(change: Change) -> str:
    return f"{change.name}: {', '.join(_differences('', change.before, change.after))}"


def _differences(path: str, before: Any, after: Any) -> Iterator[str]:
    """`max_slices 4 → 6` for every field, with a dotted path inside mappings."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in after:
            yield from _differences(f"{path}.{key}" if path else key, before.get(key), after[key])
    else:
        yield f"{path} {_word(before)} → {_word(after)}"


def _word(value: Any) -> str:
    return "none" if value is None or value == "" else str(value)


def _actor() -> Actor:
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = "shell"
    return Actor.user(name, Source.SHELL)
