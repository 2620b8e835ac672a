"""What lists of deployments count, out of the picture of the latest tick into columns: thousands are counted at once."""

from django.db import migrations, models

from scaling.models.json_members import member


class Migration(migrations.Migration):
    dependencies = [
        ("scaling", "0013_guard_against_replace"),
    ]

    operations = [
        migrations.AddField("scaler", "state", member("latest", "state", models.CharField(max_length=30, null=True))),
        migrations.AddField("scaler", "gate", member("latest", "gate", models.CharField(max_length=30, null=True))),
        migrations.AddField("scaler", "flags", member("latest", "flags", models.CharField(max_length=100, null=True))),
    ]
