"""Every address of the site."""

from importlib.util import find_spec

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from iris_web.pages import overview, session, theme

urlpatterns: list[URLPattern | URLResolver] = [
    path("", overview.view, name="overview"),
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
