"""One slice: its workers, its tasks, its history, also after it is gone."""

from collections.abc import Callable
from datetime import datetime

from django.test import Client

from scaling.models import Action, Group, Slice, Worker
from scaling.testing import builders
from tests.pages.conftest import Get


def test_workers_show_state_tasks_and_silence(group: Group, now: datetime, see: Get) -> None:
    Group.objects.update(workers_per_slice=2)
    group.refresh_from_db()
    row = builders.make_slice(group, now, name="s-1", idle=None)
    first, second = row.workers.all()
    builders.make_task(builders.make_job(now, "train"), first, now)
    Worker.objects.filter(pk=second.pk).update(state="UNKNOWN", unknown_since=builders.before(now, 70))
    text = see("/slices/s-1/")
    assert "in use: 1 task on 1 of 2 workers" in text
    assert "s-1-0 in use train" in text and "s-1-1 unknown for 1 min 10 s" in text


def test_a_slice_that_is_gone_keeps_its_page(group: Group, now: datetime, see: Get) -> None:
    row = builders.make_slice(group, now, "GONE", name="s-1", ended_at=now, reason="idle for 6 min")
    row.workers.all().delete()
    builders.make_action("scale_down", now, group=group.name, slice="s-1", reason="idle for 6 min")
    text = see("/slices/s-1/", "operator")
    assert "gone" in text and "Its workers are gone." in text and "scale down" in text
    assert "Drain" not in text


def test_an_unknown_slice_is_a_404(group: Group, see: Get) -> None:
    assert "There is no slice s-9." in see("/slices/s-9/", status=404)


def test_a_slice_is_drained_and_taken_back(group: Group, now: datetime, sign_in: Callable[[str], Client]) -> None:
    builders.make_slice(group, now, name="s-1")
    client = sign_in("operator")
    page = client.get("/slices/s-1/drain/").content.decode()
    assert "leaves once its idle window is over" in page
    answer = client.post("/slices/s-1/drain/", {"reason": "bad disk"}, follow=True)
    assert "s-1 is draining." in answer.content.decode() and "bad disk" in answer.content.decode()
    assert Slice.objects.get().drain_by == "operator"
    client.post("/slices/s-1/undrain/", {})
    assert Slice.objects.get().drain_since is None
    assert list(Action.objects.order_by("id").values_list("kind", "actor", "source")) == [
        ("drain", "operator", "page"),
        ("undrain", "operator", "page"),
    ]
    again = client.post("/slices/s-1/undrain/", {})
    assert again.status_code == 422 and b"not draining" in again.content
