"""`manage.py status [--json]`: the cluster in a few lines."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from typing import Any

from scaling import clock
from scaling.counting import counted
from scaling.management.base import IrisCommand
from scaling.overview import overview


class Command(IrisCommand):
    help = "Says how the cluster is: cycles, groups, slices, jobs, markers, loops, platforms."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object, as the API's /status")

    def handle(self, *args: Any, **options: Any) -> None:
        facts = overview(clock.now())
        self.stdout.write(json.dumps(facts, indent=2) if options["json"] else "\n".join(status_lines(facts)))


def status_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """One line per question."""
    halted = facts["halted"]
    if halted:
        yield f"HALTED     since {halted['since']} by {halted['by']}: {halted['reason'] or 'no reason given'}"
    yield f"cycle      {_cycle(facts['cycle'])}"
    groups = facts["groups"]
    outcomes = _listed(groups["by_outcome"])
    yield f"groups     {groups['total']} ({outcomes}), {groups['draining']} draining, {groups['paused']} paused"
    yield f"slices     {_listed(facts['slices'])}"
    wait = facts["oldest_wait_seconds"]
    tasks = facts["pending_tasks"]
    waiting = f"{counted(tasks, 'task')} {'waits' if tasks == 1 else 'wait'}"
    waiting += f", the oldest for {wait:.0f} s" if wait is not None else ""
    yield f"jobs       {_listed(facts['jobs'])}; {waiting}"
    yield f"hints      {_listed(facts['hints'])}"
    markers = facts["markers"]
    yield f"markers    {_listed(markers['open'])}; {markers['unacknowledged']} not acknowledged"
    for platform in facts["platforms"]:
        trouble = f", unreachable since {platform['unreachable_since']}: {platform['last_error']}"
        reached = trouble if platform["unreachable_since"] else ""
        yield f"platform   {platform['name']}: mode {platform['mode']}{reached}"
    for loop in facts["loops"]:
        failed = f", failed: {loop['last_error'].splitlines()[-1]}" if loop["last_error"] else ""
        yield f"loop       {loop['name']}: {loop['last_lateness_ms']:.0f} ms late, {loop['skipped']} skipped{failed}"


def _cycle(cycle: Mapping[str, Any] | None) -> str:
    if cycle is None:
        return "none yet"
    why = f" ({cycle['reason']})" if cycle["reason"] else ""
    return f"{cycle['id']} {cycle['status']}{why}, {cycle['age_seconds']:.0f} s ago, took {cycle['duration_ms']:.0f} ms"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items()) or "none"
