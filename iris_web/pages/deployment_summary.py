"""The overview's card of deployments: how many, how many want for something, and whether the sources answer."""

from django.conf import settings

from iris_web.access import Role
from iris_web.live.fragments import Context, Fragment, Params
from iris_web.pages import deployment_briefs
from iris_web.pages.deployment_briefs import CONDITIONS, that_are
from scaling import clock, source_views

COUNTED = ("over", "held", "unassigned", "not_listed", "paused", "zero")


def summary(_params: Params, _role: Role) -> Context:
    """Two queries."""
    found = deployment_briefs.read(clock.now())
    counts = [(code, CONDITIONS[code][0], len(that_are(code, found))) for code in COUNTED]
    return {
        "total": len(found),
        "counts": [count for count in counts if count[2]],
        "sources": [row for _, row in sorted(source_views.worst().items())],
        "configured": settings.LYC.enabled,
    }


FRAGMENT = Fragment("deployments.summary", "partials/deployment_summary.html", summary, {"deployments", "sources"})
