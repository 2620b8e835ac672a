"""The tables of the simulated cloud's books, for SQLite and PostgreSQL."""

_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS slices (
        id {identity},
        cloud TEXT NOT NULL,
        name TEXT NOT NULL,
        installation TEXT NOT NULL,
        "group" TEXT NOT NULL,
        zone TEXT NOT NULL,
        device_type TEXT NOT NULL,
        device_variant TEXT NOT NULL,
        devices_per_worker INTEGER NOT NULL,
        workers INTEGER NOT NULL,
        capacity_type TEXT NOT NULL,
        quota_pool TEXT NOT NULL,
        accepted_at {real} NOT NULL,
        worker_ready_at TEXT NOT NULL,
        losses TEXT NOT NULL,
        fails_at {real},
        error TEXT NOT NULL,
        deleted_at {real},
        gone_at {real}
    )""",
    """
    CREATE TABLE IF NOT EXISTS calls (
        id {identity},
        cloud TEXT NOT NULL,
        kind TEXT NOT NULL,
        slice TEXT NOT NULL,
        installation TEXT NOT NULL,
        "group" TEXT NOT NULL,
        caller TEXT NOT NULL,
        arrived_at {real} NOT NULL,
        effect_at {real},
        answered_at {real},
        answer TEXT NOT NULL,
        error TEXT NOT NULL
    )""",
    """
    CREATE TABLE IF NOT EXISTS rules (
        id {identity},
        cloud TEXT NOT NULL,
        kind TEXT NOT NULL,
        call TEXT NOT NULL,
        zone TEXT NOT NULL,
        "group" TEXT NOT NULL,
        variant TEXT NOT NULL,
        pool TEXT NOT NULL,
        metric TEXT NOT NULL,
        amount INTEGER NOT NULL,
        seconds {real} NOT NULL,
        error TEXT NOT NULL,
        after INTEGER NOT NULL,
        remaining INTEGER,
        starts_at {real} NOT NULL,
        ends_at {real}
    )""",
)

_INDEXES = (
    "CREATE INDEX IF NOT EXISTS slices_by_name ON slices (cloud, name)",
    "CREATE INDEX IF NOT EXISTS slices_live ON slices (cloud, gone_at)",
    "CREATE INDEX IF NOT EXISTS calls_by_slice ON calls (cloud, kind, slice)",
    "CREATE INDEX IF NOT EXISTS calls_by_time ON calls (cloud, kind, arrived_at)",
)


def sqlite_schema() -> list[str]:
    """Statements that make the tables in SQLite."""
    return [
        statement.format(identity="INTEGER PRIMARY KEY AUTOINCREMENT", real="REAL")
        for statement in (*_TABLES, *_INDEXES)
    ]


def postgres_schema() -> list[str]:
    """Statements that make the tables in PostgreSQL."""
    return [
        statement.format(identity="BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", real="DOUBLE PRECISION")
        for statement in (*_TABLES, *_INDEXES)
    ]
