from django.db import migrations, models


class Migration(migrations.Migration):
    """Roles of tokens are told in the words that are stored; nothing in the database changes."""

    dependencies = [("scaling", "0015_slice_counts")]

    operations = [
        migrations.AlterField(
            model_name="apitoken",
            name="role",
            field=models.CharField(
                choices=[
                    ("viewer", "viewer"),
                    ("operator", "operator"),
                    ("admin", "admin"),
                    ("scheduler", "scheduler"),
                    ("worker", "worker"),
                ],
                max_length=10,
            ),
        ),
    ]
