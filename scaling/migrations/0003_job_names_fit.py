"""A gang is named by its source and its id, which together may have 301 characters."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scaling", "0002_database_guards"),
    ]

    operations = [
        migrations.AlterField(
            model_name="slice",
            name="gang",
            field=models.CharField(
                blank=True, default="", help_text="The gang job these workers are kept for.", max_length=310
            ),
        ),
    ]
