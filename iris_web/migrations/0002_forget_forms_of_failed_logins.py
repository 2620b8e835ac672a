from typing import Any

from django.db import migrations


def forget(apps: Any, schema_editor: Any) -> None:
    """Forms of failed logins were kept with what was typed in them, new passwords included."""
    attempts = apps.get_model("axes", "AccessAttempt").objects.using(schema_editor.connection.alias)
    attempts.update(get_data="", post_data="")


class Migration(migrations.Migration):
    dependencies = [("iris_web", "0001_identity"), ("axes", "0009_add_session_hash")]
    operations = [migrations.RunPython(forget, migrations.RunPython.noop)]
