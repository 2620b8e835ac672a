"""When a worker was last heard, by the clock of Iris: its own clock may be slow."""

from typing import Any

from django.db import migrations, models
from django.db.models import F


def as_told(apps: Any, _schema_editor: Any) -> None:
    """What is known so far is the worker's own word."""
    apps.get_model("scaling", "Worker").objects.update(heard_at=F("heartbeat_at"))


def nothing(_apps: Any, _schema_editor: Any) -> None:
    """The column goes with its values."""


class Migration(migrations.Migration):
    dependencies = [
        ("scaling", "0003_job_names_fit"),
    ]

    operations = [
        migrations.AddField(
            model_name="worker",
            name="heard_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.RunPython(as_told, nothing),
    ]
