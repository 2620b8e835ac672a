"""What `up` opens on: the cluster that is stored, a cluster file's, or the simulated one of the demonstration."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from django.db import transaction

from scaling import demonstration
from scaling.cluster_import import ImportReport, import_cluster
from scaling.clusterfile import ClusterImport
from scaling.counting import counted
from scaling.history import Actor
from scaling.management.cluster_files import load_cluster
from scaling.management.scenario_files import BadFile
from scaling.models import Group, Installation, Platform, Source
from scaling.operations import OperationError, set_platform_mode
from scaling.supervisor.checks import BadInput, CannotStart

ACTOR = Actor.user("up", Source.SHELL)


def fill(file: Path | None, with_demonstration: bool, now: datetime) -> Iterator[str]:
    """Make the cluster where there is none yet; yields what to tell about it.

    A file is read into an empty installation only: later starts must not undo what people have edited since.
    """
    shown = Installation.objects.filter(demonstration=True).exists()
    if file is not None:
        yield from _open_on(file, shown)
    elif not Group.objects.exists() and with_demonstration:
        demonstration.seed(now)
        shown = True
    if shown:
        yield "A small simulated cluster for a first look: nothing is bought anywhere."


def check(file: Path | None) -> None:
    """Refuse a file that cannot be used before anything is made; raises BadInput."""
    try:
        if file is not None:
            load_cluster(str(file))
    except BadFile as error:
        raise BadInput(str(error)) from None


def _open_on(file: Path, demonstration_shown: bool) -> Iterator[str]:
    if demonstration_shown:
        raise CannotStart(
            "This data folder shows the demonstration cluster, which a real one should not be mixed with; set "
            "IRIS_STATE_DIR to a new folder for the cluster file."
        )
    try:
        parsed = load_cluster(str(file))
        if Group.objects.exists():
            yield f"There are groups already: {file} is not read again (`manage.py import_cluster` brings changes in)."
            return
        with transaction.atomic():
            report = import_cluster(ACTOR, parsed)
            simulated = list(_bring_to_life())
    except (BadFile, OperationError) as error:
        raise BadInput(str(error)) from None
    yield from _told(file, parsed, report)
    for name in simulated:
        yield f"Platform {name} is simulated: Iris has no client for it yet, and nothing is bought there."


def _bring_to_life() -> Iterator[str]:
    """A platform that cannot be reached yet is simulated, and a simulated one may act; a real one only observes."""
    for platform in Platform.objects.filter(simulated=True, mode=Platform.Mode.OBSERVE):
        set_platform_mode(ACTOR, platform.name, Platform.Mode.ACT, reason="simulated: no client for it yet")
        yield platform.name


def _told(file: Path, parsed: ClusterImport, report: ImportReport) -> Iterator[str]:
    groups, pools = counted(len(report.made("group")), "group"), counted(len(report.made("quota pool")), "quota pool")
    yield f"{file}: {groups} and {pools} on {parsed.platform_kind}."
    for key in parsed.not_understood:
        yield f"   did not understand: {key}"
    for warning in parsed.warnings:
        yield f"   note: {warning}"
    if report.period is not None:
        yield f"   note: {report.period.words()}"
