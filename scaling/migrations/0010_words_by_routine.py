"""PostgreSQL's index of words becomes two: of routine actions, and of all others."""

from typing import Any

from django.db import migrations

from scaling.audit import index


def part(_apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor != "postgresql":
        return
    # A database that is made anew has both already.
    schema_editor.execute(f"DROP INDEX IF EXISTS {index.INDEX}, {index.INDEX}_routine")
    for statement in index.postgresql_indexes():
        schema_editor.execute(statement)


def unite(_apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor != "postgresql":
        return
    schema_editor.execute(f"DROP INDEX {index.INDEX}_routine")
    schema_editor.execute(f"DROP INDEX {index.INDEX}")
    schema_editor.execute(f"CREATE INDEX {index.INDEX} ON {index.TABLE} USING gin (words) WITH (fastupdate = off)")


class Migration(migrations.Migration):
    dependencies = [
        ("scaling", "0009_notices"),
    ]

    operations = [
        migrations.RunPython(part, unite),
    ]
