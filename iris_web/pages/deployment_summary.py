"""The overview's card of deployments: how many, how many want for something, and whether the sources answer."""

from django.conf import settings

from iris_web.access import Role
from iris_web.live.fragments import Context, Fragment, Params
from iris_web.pages.deployment_conditions import CONDITIONS, conditions, counts, there
from scaling import clock, source_views

COUNTED = ("over", "held", "unassigned", "not_listed", "paused", "zero")


def summary(_params: Params, _role: Role) -> Context:
    """Two queries."""
    asked = conditions(clock.now())
    found = counts(there(), {code: asked[code] for code in COUNTED})
    return {
        "total": found["all"],
        "counts": [(code, CONDITIONS[code], found[code]) for code in COUNTED if found[code]],
        "sources": [row for _, row in sorted(source_views.worst().items())],
        "configured": settings.LYC.enabled,
    }


FRAGMENT = Fragment("deployments.summary", "partials/deployment_summary.html", summary, {"deployments", "sources"})
