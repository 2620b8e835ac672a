"""Notices and their channels; how a source answers, kept for each instance."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models


def forget_shared_answers(apps: Any, _schema_editor: Any) -> None:
    """What was noted for all instances together is no instance's: each notes its own within a tick."""
    apps.get_model("scaling", "SourceState").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [
        ("scaling", "0008_audit"),
    ]

    operations = [
        migrations.CreateModel(
            name="Notice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=30)),
                ("object", models.CharField(blank=True, default="", max_length=200)),
                ("title", models.CharField(max_length=300)),
                ("text", models.TextField(blank=True, default="")),
                ("page", models.CharField(blank=True, default="", max_length=300)),
                ("since", models.DateTimeField()),
                ("opened_at", models.DateTimeField()),
                ("told_at", models.DateTimeField(blank=True, null=True)),
                ("absent_since", models.DateTimeField(blank=True, null=True)),
                ("over_at", models.DateTimeField(blank=True, null=True)),
                ("quiet", models.BooleanField(default=False)),
                ("flaps", models.PositiveIntegerField(default=0)),
                ("message", models.CharField(blank=True, default="", max_length=32)),
                ("acknowledged_at", models.DateTimeField(blank=True, null=True)),
                ("acknowledged_by", models.CharField(blank=True, default="", max_length=150)),
                ("acknowledged_note", models.CharField(blank=True, default="", max_length=1000)),
                ("acknowledged_until", models.DateTimeField(blank=True, null=True)),
                ("version", models.PositiveIntegerField(default=1)),
            ],
            options={
                "ordering": ("-opened_at", "-id"),
            },
        ),
        migrations.CreateModel(
            name="NoticeChannel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100, unique=True)),
                ("url", models.TextField(blank=True, default="")),
                ("masked", models.CharField(blank=True, default="", max_length=300)),
                ("kinds", models.JSONField(blank=True, default=list)),
                ("enabled", models.BooleanField(default=True)),
                ("tell_over", models.BooleanField(default=True)),
                ("from_environment", models.BooleanField(default=False)),
                ("digest", models.CharField(blank=True, default="", max_length=64)),
                ("seen_at", models.DateTimeField(blank=True, null=True)),
                ("last_ok_at", models.DateTimeField(blank=True, null=True)),
                ("last_failed_at", models.DateTimeField(blank=True, null=True)),
                ("last_error", models.CharField(blank=True, default="", max_length=400)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("version", models.PositiveIntegerField(default=1)),
            ],
            options={
                "ordering": ("from_environment", "name"),
            },
        ),
        migrations.CreateModel(
            name="NoticeDelivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("message", models.CharField(max_length=32)),
                ("kind", models.CharField(max_length=8)),
                ("title", models.CharField(max_length=300)),
                ("body", models.TextField()),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("sent", "Sent"), ("given_up", "Given Up")],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("next_attempt_at", models.DateTimeField()),
                ("last_error", models.CharField(blank=True, default="", max_length=400)),
                ("created_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.RunPython(forget_shared_answers, forget_shared_answers),
        migrations.AddField(
            model_name="sourcestate",
            name="instance",
            field=models.CharField(blank=True, default="", max_length=60),
        ),
        migrations.AlterField(
            model_name="sourcestate",
            name="name",
            field=models.CharField(max_length=20),
        ),
        migrations.AddConstraint(
            model_name="sourcestate",
            constraint=models.UniqueConstraint(fields=("name", "instance"), name="source_once_per_instance"),
        ),
        migrations.AddIndex(
            model_name="notice",
            index=models.Index(fields=["over_at", "-opened_at"], name="notices_over"),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.UniqueConstraint(
                condition=models.Q(("over_at__isnull", True)),
                fields=("kind", "object"),
                name="one_open_notice_per_object",
            ),
        ),
        migrations.AddConstraint(
            model_name="noticechannel",
            constraint=models.UniqueConstraint(
                condition=models.Q(("digest", ""), _negated=True), fields=("digest",), name="channel_once_per_digest"
            ),
        ),
        migrations.AddField(
            model_name="noticedelivery",
            name="channel",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="deliveries", to="scaling.noticechannel"
            ),
        ),
        migrations.AddIndex(
            model_name="noticedelivery",
            index=models.Index(fields=["state", "next_attempt_at"], name="deliveries_due"),
        ),
        migrations.AddIndex(
            model_name="noticedelivery",
            index=models.Index(fields=["created_at"], name="deliveries_by_age"),
        ),
        migrations.AddConstraint(
            model_name="noticedelivery",
            constraint=models.UniqueConstraint(fields=("channel", "message"), name="message_once_per_channel"),
        ),
    ]
