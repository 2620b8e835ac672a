"""Tasks remember the name of the slice they ran on, which outlives its workers."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scaling", "0005_deployments"),
    ]

    operations = [
        migrations.AddField(
            model_name="task",
            name="slice_name",
            field=models.CharField(blank=True, default="", max_length=63),
        ),
    ]
