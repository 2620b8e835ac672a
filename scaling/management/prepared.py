"""Whether there is a database of this version to work on, asked without making any."""

import os
from pathlib import Path

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor


def why_not() -> str:
    """One sentence that says what is missing and which command brings it about; "" when all is there.

    Neither the data folder nor a database file in it is made: a SQLite file that is not there is not opened.
    """
    there = where()
    if connection.vendor == "sqlite" and not _holds_something(Path(str(connection.settings_dict["NAME"]))):
        return f"There is no Iris database at {there}; `manage.py up` makes one{_hint()}."
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
        is_empty = not executor.loader.applied_migrations
    except (DatabaseError, OSError) as error:
        return f"The database does not answer ({there}): {first_line(error)}."
    if is_empty:
        return f"The database {there} holds no Iris yet; `manage.py up` (or `migrate`) prepares it{_hint()}."
    if missing:
        return f"The database {there} is of an earlier version of Iris; `manage.py up` (or `migrate`) updates it."
    return ""


def first_line(error: Exception) -> str:
    """An error's words without the rest of its story."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def where() -> str:
    """Never with the password that DATABASE_URL may hold."""
    configured = connection.settings_dict
    if connection.vendor == "sqlite":
        return str(configured["NAME"])
    return f"{configured['NAME']} on {configured['HOST'] or 'this machine'}"


def _hint() -> str:
    is_named = os.environ.get("DATABASE_URL") or os.environ.get("IRIS_STATE_DIR")
    return "" if is_named else ", or set IRIS_STATE_DIR to the data folder that has one"


def _holds_something(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False
    except OSError:
        # It is there; the database says what is wrong with it.
        return True
