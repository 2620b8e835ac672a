"""Pages count the slices of all groups at every look: along an index that has all that they count, and nothing gone."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scaling", "0014_scaler_columns"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="slice",
            index=models.Index(
                condition=models.Q(("state__in", ["REQUESTING", "BOOTING", "READY", "DRAINING", "TERMINATING"])),
                fields=["group", "state", "idle_since"],
                name="slice_counts",
            ),
        ),
    ]
