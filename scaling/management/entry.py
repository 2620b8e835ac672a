"""What surrounds every command: a prepared database where it needs one, and an end without a stack trace.

Whoever interrupts a command or closes its output knows that it ended; whoever has no database, or one that stops
answering, is told in a sentence.
"""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import django
from django.conf import settings
from django.core.management import execute_from_command_line, get_commands
from django.db import DatabaseError, InterfaceError

from scaling.management.prepared import first_line, where, why_not
from scaling.supervisor.checks import CannotStart, make_data_folder

# Commands that work without a database, prepare it, or wait until it is there.
_NEEDS_NO_DATABASE = frozenset({"up", "ticker", "plan_cluster", "plan_replicas", "demo_fleet"})
# Of other apps, those that people run on an installation.
_OF_OTHERS = frozenset({"changepassword", "createsuperuser", "clearsessions"})
_HELP = frozenset({"-h", "--help", "--version"})


def run(arguments: Sequence[str]) -> None:
    """Run the command; raises SystemExit where it does not end well. `arguments`: as in `sys.argv`."""
    try:
        django.setup()
        _run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(interrupted(arguments))
    except BrokenPipeError:
        # What is left in the buffer has nowhere to go; at the end of the process that would be said again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def interrupted(arguments: Sequence[str]) -> int:
    """The exit code of a command that Ctrl-C ended: for `up` that is the usual end, however early it comes."""
    return 0 if arguments[1:2] == ["up"] else 128 + signal.SIGINT


def _run(arguments: Sequence[str]) -> None:
    command = arguments[1] if len(arguments) > 1 else ""
    reason = why_not() if _needs_database(command, arguments) else _make_folder(command)
    if reason:
        sys.exit(reason)
    try:
        execute_from_command_line(list(arguments))
    except (DatabaseError, InterfaceError) as error:
        sys.exit(f"The database does not answer ({where()}): {first_line(error)}.")


def _make_folder(command: str) -> str:
    """`migrate` makes the tables, so it may make the folder they are in; why it cannot, or ""."""
    if command == "migrate":
        try:
            make_data_folder(Path(settings.STATE_DIR))
        except CannotStart as refusal:
            return str(refusal)
    return ""


def _needs_database(command: str, arguments: Sequence[str]) -> bool:
    if command in _NEEDS_NO_DATABASE or not _HELP.isdisjoint(arguments):
        return False
    return command in _OF_OTHERS or get_commands().get(command) == "scaling"
