"""Every address of the site."""

from importlib.util import find_spec

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from iris_web.pages import demand, group, group_acts, groups, job, overview, session, slice, theme

urlpatterns: list[URLPattern | URLResolver] = [
    path("", overview.view, name="overview"),
    path("groups/", groups.view, name="groups"),
    path("groups/<path:name>/drain/", group_acts.drain, name="group-drain"),
    path("groups/<path:name>/undrain/", group_acts.undrain, name="group-undrain"),
    path("groups/<path:name>/pause/", group_acts.pause, name="group-pause"),
    path("groups/<path:name>/resume/", group_acts.resume, name="group-resume"),
    path("groups/<path:name>/limits/", group_acts.edit_limits, name="group-limits"),
    path("groups/<path:name>/", group.view, name="group"),
    path("slices/<str:name>/drain/", slice.drain, name="slice-drain"),
    path("slices/<str:name>/undrain/", slice.undrain, name="slice-undrain"),
    path("slices/<str:name>/", slice.view, name="slice"),
    path("demand/", demand.view, name="demand"),
    path("demand/<path:job>/", job.view, name="job"),
    path("theme/", theme.choose, name="theme"),
    path("login/", session.SignIn.as_view(), name="login"),
    path("logout/", session.SignOut.as_view(), name="logout"),
    path("admin/login/", session.admin_sign_in),
    path("admin/", admin.site.urls),
]
if find_spec("iris_web.api.urls"):
    urlpatterns.append(path("api/v1/", include("iris_web.api.urls")))
if find_spec("iris_web.health"):
    from iris_web import health

    urlpatterns += [path("healthz", health.healthz), path("readyz", health.readyz)]
if find_spec("iris_web.metrics"):
    from iris_web import metrics

    urlpatterns.append(path("metrics", metrics.metrics))
