"""The history as evidence: seals, a full-text index, indexes for its lists, and archives (no constraint on causes)."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from scaling.append_only import drop_triggers, guard, install_triggers, unguard
from scaling.audit import index

ACTIONS = "scaling_action"


def take_guard_off(_apps: Any, schema_editor: Any) -> None:
    drop_triggers(schema_editor.connection, ACTIONS)


def put_old_guard_on(_apps: Any, schema_editor: Any) -> None:
    install_triggers(schema_editor.connection, ACTIONS)


def guard_and_index(_apps: Any, schema_editor: Any) -> None:
    guard(schema_editor.connection)
    index.install(schema_editor.connection)


def unguard_and_forget(_apps: Any, schema_editor: Any) -> None:
    unguard(schema_editor.connection)
    index.uninstall(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("scaling", "0007_facts_and_targets")]

    operations = [
        # SQLite makes a table anew to change it, and its triggers with it.
        migrations.RunPython(take_guard_off, put_old_guard_on),
        migrations.CreateModel(
            name="ArchivePass",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("through_id", models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="Seal",
            fields=[
                ("number", models.BigIntegerField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("form", models.PositiveSmallIntegerField()),
                ("after_id", models.BigIntegerField()),
                ("through_id", models.BigIntegerField(db_index=True)),
                ("actions", models.PositiveIntegerField()),
                ("entries", models.BinaryField()),
                ("previous", models.CharField(max_length=64)),
                ("hash", models.CharField(max_length=64)),
            ],
            options={"ordering": ("number",)},
        ),
        migrations.CreateModel(
            name="SealHead",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.BigIntegerField(default=0)),
                ("through_id", models.BigIntegerField(default=0)),
                ("hash", models.CharField(blank=True, default="", max_length=64)),
                ("at", models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.AlterField(
            model_name="action",
            name="cause",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="effects",
                to="scaling.action",
            ),
        ),
        migrations.AlterField(
            model_name="slice",
            name="cause",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="scaling.action",
            ),
        ),
        migrations.AddIndex(
            model_name="action",
            index=models.Index(
                condition=models.Q(("cycle__isnull", False)), fields=["cycle", "-id"], name="action_cycle"
            ),
        ),
        migrations.AddIndex(
            model_name="action",
            index=models.Index(
                condition=models.Q(("kind__in", ("demand", "deferred")), _negated=True),
                fields=["-id"],
                name="action_not_routine",
            ),
        ),
        migrations.AddIndex(
            model_name="action",
            index=models.Index(
                condition=models.Q(("actor_kind", "system"), _negated=True), fields=["-id"], name="action_by_people"
            ),
        ),
        migrations.RunPython(guard_and_index, unguard_and_forget),
    ]
