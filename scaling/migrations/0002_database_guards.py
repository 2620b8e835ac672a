"""What Django's models cannot say: the append-only trigger on actions, and commit order for the feed on PostgreSQL."""

from typing import Any

from django.db import migrations

from scaling.append_only import drop_triggers, install_triggers

ACTIONS = "scaling_action"


def guard(_apps: Any, schema_editor: Any) -> None:
    connection = schema_editor.connection
    install_triggers(connection, ACTIONS)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE scaling_event ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id()")
            cursor.execute("CREATE INDEX scaling_event_xid ON scaling_event (xid, id)")


def unguard(_apps: Any, schema_editor: Any) -> None:
    connection = schema_editor.connection
    drop_triggers(connection, ACTIONS)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE scaling_event DROP COLUMN xid")


class Migration(migrations.Migration):
    dependencies = [("scaling", "0001_initial")]

    operations = [migrations.RunPython(guard, unguard)]
