from django.db import migrations


class Migration(migrations.Migration):
    """How people call API tokens; nothing in the database changes."""

    dependencies = [("scaling", "0011_notice_tellings")]

    operations = [
        migrations.AlterModelOptions(name="apitoken", options={"ordering": ("name",), "verbose_name": "API token"}),
    ]
