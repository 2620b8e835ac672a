"""The few statements on the feed's table that SQLite and PostgreSQL word differently."""

from dataclasses import dataclass

from django.db import connection

from scaling.feed.positions import Position


@dataclass(frozen=True, slots=True)
class Dialect:
    """SQL for one database. `after`, `until` and `before` are conditions on a place, whose values `place` gives."""

    columns: str
    order: str
    after: str
    until: str
    before: str
    safe: str
    head: str
    id_alone: bool

    def place(self, position: Position) -> list[str | int]:
        return [position.id] if self.id_alone else [str(position.xid), position.id]

    def select(self, *conditions: str) -> str:
        """Events in order, `LIMIT` last; only those before which no other event can still appear."""
        where = " AND ".join([*conditions, self.safe])
        return f"SELECT {self.columns} FROM scaling_event WHERE {where} ORDER BY {self.order} LIMIT %s"  # noqa: S608

    @property
    def delete_before(self) -> str:
        return f"DELETE FROM scaling_event WHERE {self.before}"  # noqa: S608


SQLITE = Dialect(
    columns="0, id, topic, kind, payload, at",
    order="id",
    after="id > %s",
    until="id <= %s",
    before="id < %s",
    safe="true",
    # Ids are never given twice, so the sequence remembers the last event even when the table is empty.
    head="SELECT 0, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'scaling_event'), 0)",
    id_alone=True,
)
POSTGRESQL = Dialect(
    # The text must not be named like the column: ORDER BY takes the output's name first, and text sorts 1000 below 998.
    columns="xid::text AS xid_text, id, topic, kind, payload, at",
    order="scaling_event.xid, scaling_event.id",
    after="(xid, id) > (%s::text::xid8, %s)",
    until="(xid, id) <= (%s::text::xid8, %s)",
    before="(xid, id) < (%s::text::xid8, %s)",
    safe="xid < pg_snapshot_xmin(pg_current_snapshot())",
    head="SELECT pg_snapshot_xmin(pg_current_snapshot())::text, 0",
    id_alone=False,
)


def dialect() -> Dialect:
    """The wording for this thread's database connection."""
    return POSTGRESQL if connection.vendor == "postgresql" else SQLITE
