"""Which channel was told of which notice, what each message is about, and messages that were dropped."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models


def take_as_heard(apps: Any, _schema_editor: Any) -> None:
    """Who was told before this was kept is not told again, and hears when it is over."""
    channels = list(apps.get_model("scaling", "NoticeChannel").objects.filter(enabled=True))
    told = apps.get_model("scaling", "Notice").objects.filter(over_at=None, told_at__isnull=False)
    telling = apps.get_model("scaling", "NoticeTelling")
    telling.objects.bulk_create(
        [
            telling(notice=notice, channel=channel, heard=True)
            for notice in told
            for channel in channels
            if not channel.kinds or notice.kind in channel.kinds
        ],
        batch_size=1000,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("scaling", "0010_words_by_routine"),
    ]

    operations = [
        migrations.AddField(
            model_name="noticedelivery",
            name="notices",
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AlterField(
            model_name="noticedelivery",
            name="state",
            field=models.CharField(
                choices=[
                    ("waiting", "Waiting"),
                    ("sent", "Sent"),
                    ("given_up", "Given Up"),
                    ("dropped", "Dropped"),
                ],
                default="waiting",
                max_length=8,
            ),
        ),
        migrations.CreateModel(
            name="NoticeTelling",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("heard", models.BooleanField(default=False)),
                (
                    "channel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tellings",
                        to="scaling.noticechannel",
                    ),
                ),
                (
                    "notice",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="tellings", to="scaling.notice"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("notice", "channel"), name="telling_once_per_channel")],
            },
        ),
        migrations.RunPython(take_as_heard, migrations.RunPython.noop),
    ]
