"""Static files, each sent as a whole."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware


class StaticFilesMiddleware(WhiteNoiseMiddleware):
    """WhiteNoise's files as plain answers.

    Its own are read piece by piece in a way that an ASGI server can only gather first, with a warning in the log; the
    largest file here has 150 kB.
    """

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:  # type: ignore[override]
        found = static_file.get_response(request.method, request.META)
        content = b""
        if found.file is not None:
            with found.file as file:
                content = file.read()
        answer = HttpResponse(content, status=int(found.status))
        del answer.headers["Content-Type"]
        for name, value in found.headers:
            answer.headers[name] = value
        return answer
