"""The guard of append-only tables anew: on SQLite it also refuses to put a row in the place of another (REPLACE)."""

from typing import Any

from django.db import migrations

from scaling.append_only import guard, unguard


def guard_anew(_apps: Any, schema_editor: Any) -> None:
    # On PostgreSQL nothing changes: triggers made anew would only lock the table, and with it every writer of actions.
    if schema_editor.connection.vendor != "sqlite":
        return
    unguard(schema_editor.connection)
    guard(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("scaling", "0012_api_token_name")]

    # What is guarded more than before is no harm to the code of before.
    operations = [migrations.RunPython(guard_anew, migrations.RunPython.noop)]
