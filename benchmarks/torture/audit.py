"""What must hold once the control plane has come back and run two more cycles: Iris' rows against the cloud's books."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.torture.cluster import Round
from benchmarks.torture.eye import CLOUD, Eye
from scaling.platforms.simulated.store import SCHEMA

_SOLD = f"{SCHEMA}.slices b"
_NOT_GONE = "(b.gone_at IS NULL OR b.gone_at > {now})"
_ROW = "scaling_slice s ON s.name = b.name AND s.ended_at IS NULL"

# What it means when a statement returns slices. `{now}`: the present, `{listed}`: the start of the last whole cycle.
CHECKS: tuple[tuple[str, str], ...] = (
    ("was bought twice", f"SELECT b.name FROM {_SOLD} WHERE b.cloud = '{CLOUD}' GROUP BY b.name HAVING COUNT(*) > 1"),
    (
        "is an orphan: the cloud has it and Iris has no live row of it",
        f"SELECT b.name FROM {_SOLD} LEFT JOIN {_ROW} WHERE b.cloud = '{CLOUD}' AND {_NOT_GONE} AND s.id IS NULL",
    ),
    (
        "is a phantom: Iris counts it and the cloud never sold it",
        f"SELECT s.name FROM scaling_slice s LEFT JOIN {_SOLD} ON b.name = s.name"
        " WHERE s.ended_at IS NULL AND s.state <> 'REQUESTING' AND b.id IS NULL",
    ),
    (
        "is counted although it was gone before the last cycle began",
        f"SELECT s.name FROM {_SOLD} JOIN {_ROW} WHERE b.gone_at < {{listed}}",
    ),
    (
        "was bought without exactly one scale_up action",
        f"SELECT b.name FROM {_SOLD} LEFT JOIN scaling_action a ON a.slice = b.name AND a.kind = 'scale_up'"
        f" WHERE b.cloud = '{CLOUD}' GROUP BY b.name HAVING COUNT(a.id) <> 1",
    ),
    (
        "has an action twice",
        "SELECT a.slice FROM scaling_action a WHERE a.kind IN ('scale_down', 'slice_ready')"
        " GROUP BY a.slice, a.kind HAVING COUNT(*) > 1",
    ),
    (
        "was told to have failed or to be unknown",
        "SELECT a.slice FROM scaling_action a WHERE a.kind IN ('slice_failed', 'slice_lost', 'slice_adopted',"
        " 'slice_swept', 'slice_cancelled', 'create_failed', 'delete_failed', 'marker_set')",
    ),
    ("is an orphan in Iris' own list", "SELECT o.name FROM scaling_orphan o"),
)


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong; `slice` is "" where it concerns a round as a whole."""

    words: str
    slice: str = ""


def audit(eye: Eye, now: float, listed: float) -> Iterator[Violation]:
    """What holds at any time; `listed` is when the last whole cycle began (Unix seconds both)."""
    for words, statement in CHECKS:
        for (name,) in eye.rows(statement.format(now=now, listed=listed)):
            yield Violation(words, name)


def audit_round(eye: Eye, round_: Round) -> Iterator[Violation]:
    """The cloud has sold exactly one slice for each of its jobs, and ended none while they run."""
    sold = sold_to(eye, round_)
    if len(sold) != round_.jobs:
        yield Violation(f"round {round_.number}: {round_.jobs} jobs, and the cloud sold {len(sold)} slices")
        for name in sold:
            yield Violation("was sold to that round", name)
    for name, (_accepted_at, ended_at) in sold.items():
        if ended_at is not None:
            yield Violation("was ended in the cloud while its job wants it", name)


def sold_to(eye: Eye, round_: Round) -> dict[str, tuple[float, float | None]]:
    """When each slice of the round was accepted, and when it was told to end."""
    rows = eye.rows(
        f"SELECT b.name, b.accepted_at, b.deleted_at FROM {_SOLD} LEFT JOIN scaling_slice s ON s.name = b.name"
        ' WHERE b.cloud = ? AND b."group" = ? AND (s.id IS NULL OR s.id > ?) ORDER BY b.id',
        CLOUD,
        round_.group,
        round_.first_slice,
    )
    return {name: (accepted_at, ended_at) for name, accepted_at, ended_at in rows}


def not_released(eye: Eye, names: Sequence[str]) -> Iterator[Violation]:
    """Those that were to go when everything died and that the cloud was never told to end."""
    kept = {
        name for (name,) in eye.rows(f"SELECT b.name FROM {_SOLD} WHERE b.deleted_at IS NULL AND b.gone_at IS NULL")
    }
    for name in names:
        if name in kept:
            yield Violation("was to be released, and the cloud was not told within two more cycles", name)


def told_wholly(eye: Eye) -> Iterator[Violation]:
    """When all is over: each slice that was sold has one action for its request, its readiness and its release."""
    for kind in ("scale_up", "slice_ready", "scale_down"):
        rows = eye.rows(
            f"SELECT b.name FROM {_SOLD} LEFT JOIN scaling_action a ON a.slice = b.name AND a.kind = ?"
            " WHERE b.cloud = ? GROUP BY b.name HAVING COUNT(a.id) <> 1",
            kind,
            CLOUD,
        )
        for (name,) in rows:
            yield Violation(f"has not exactly one {kind} action", name)
