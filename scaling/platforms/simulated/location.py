"""Where this installation's simulated clouds keep their books."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connections

from scaling.platforms.simulated.store import PostgresStore, SqliteStore, Store

FILE_NAME = "simulated-cloud.sqlite3"

_LIBPQ_NAMES = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
# Options of Django's own connection, not of libpq.
_DJANGO_OPTIONS = frozenset({"pool", "isolation_level", "assume_role", "server_side_binding", "cursor_factory"})


def cloud_store() -> Store:
    """A file in the data folder, or a schema in the PostgreSQL database that Iris itself uses."""
    database = connections["default"]
    if database.vendor == "postgresql":
        return PostgresStore(_libpq_parameters(database.settings_dict))
    return SqliteStore(Path(settings.STATE_DIR) / FILE_NAME)


def _libpq_parameters(configured: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    parameters = {name: configured[key] for key, name in _LIBPQ_NAMES.items() if configured.get(key)}
    options = {key: value for key, value in configured.get("OPTIONS", {}).items() if key not in _DJANGO_OPTIONS}
    plain = {key: str(value) for key, value in {**options, **parameters}.items() if isinstance(value, str | int)}
    return tuple(sorted(plain.items()))
