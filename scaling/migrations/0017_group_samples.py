"""The points of the groups' charts, and the maximum that each evaluation was made with."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scaling", "0016_words_of_roles"),
    ]

    operations = [
        migrations.AddField(
            model_name="groupstatus",
            name="max_slices",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.CreateModel(
            name="GroupSample",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_index=True)),
                ("ready", models.PositiveIntegerField(null=True)),
                ("in_flight", models.PositiveIntegerField(null=True)),
                ("demand", models.PositiveIntegerField(null=True)),
                ("max_slices", models.PositiveIntegerField(null=True)),
                (
                    "group",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="samples",
                        to="scaling.group",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("group", "at"), name="group_sample_once_a_minute")],
            },
        ),
    ]
