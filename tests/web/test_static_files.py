"""Static files: whole answers, which an ASGI server sends as they are and says nothing about."""

import warnings

from asgiref.sync import async_to_sync
from django.conf import settings
from django.test import AsyncClient, Client

PATH = "/static/css/tokens.css"
CONTENT = (settings.BASE_DIR / PATH.lstrip("/")).read_bytes()


def test_a_file_is_sent_whole_without_a_warning_of_the_server() -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        answer = async_to_sync(AsyncClient().get)(PATH)
    assert not answer.streaming and answer.content == CONTENT
    assert answer["Content-Type"] == 'text/css; charset="utf-8"' and answer["Content-Length"] == str(len(CONTENT))
    assert [str(each.message) for each in heard if "StreamingHttpResponse" in str(each.message)] == []


def test_a_part_a_head_and_a_file_that_is_known_are_answered_as_such() -> None:
    client = Client()
    part = client.get(PATH, headers={"Range": "bytes=3-9"})
    assert (part.status_code, part.content, part["Content-Length"]) == (206, CONTENT[3:10], "7")
    head = client.head(PATH)
    assert (head.status_code, head.content, head["Content-Length"]) == (200, b"", str(len(CONTENT)))
    known = client.get(PATH, headers={"If-None-Match": head["ETag"]})
    assert (known.status_code, known.content) == (304, b"")
    assert client.post(PATH).status_code == 405
