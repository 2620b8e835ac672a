"""The planner's answer to an act's page, which the page does not wait for: a part that is loaded once it is shown.

What of it was seen comes back with the form: the part brings a `seen` of its own beside that of the page.
"""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from scaling.previews import Preview

# `?preview=part` is the part alone; any other value is the whole page with it.
PART = "part"
UNAVAILABLE = 503


def part(request: HttpRequest, preview: Preview | None) -> HttpResponse:
    """What is put in the place of the words that the planner is being asked."""
    if preview is None:
        raise Http404("No cycle plans this act: it has no preview.")
    return render(request, "acts/preview_part.html", {"preview": preview, "seen": " ".join(preview.scope)})


def sent(request: HttpRequest) -> dict[str, str]:
    """The fields of a form, without space around them; all that was seen together, where it says so at all."""
    given = {key: value.strip() for key, value in request.POST.dict().items()}
    if "seen" in given:
        given["seen"] = " ".join(request.POST.getlist("seen"))
    return given
