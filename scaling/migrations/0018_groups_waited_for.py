"""How many jobs and tasks wait for each group, as the last cycle found it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scaling", "0017_group_samples"),
    ]

    operations = [
        migrations.AddField(
            model_name="groupstatus",
            name="waiting_alone",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="groupstatus",
            name="waiting_jobs",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="groupstatus",
            name="waiting_tasks",
            field=models.PositiveIntegerField(default=0),
        ),
    ]
